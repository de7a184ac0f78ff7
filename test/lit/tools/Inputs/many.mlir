func.func @innocent(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = mp.tanh %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @faulty(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = mp.exp %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
