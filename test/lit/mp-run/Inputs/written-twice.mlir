mp.variable buffer @count : tensor<f32> = #mp.init<zeros>
func.func private @counted(%x: tensor<f32>) -> tensor<f32> {
  %count = mp.read @count : tensor<f32>
  mp.write @count, %x : tensor<f32>
  return %x : tensor<f32>
}
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %once = call @counted(%x) : (tensor<f32>) -> tensor<f32>
  %twice = call @counted(%once) : (tensor<f32>) -> tensor<f32>
  return %twice : tensor<f32>
}
