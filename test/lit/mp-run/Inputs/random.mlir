// Enough elements for several tasks.
func.func @draw(%x: tensor<1000x300xf32>) -> (tensor<1000x300xf32>, tensor<1000x300xf32>) {
  %0 = mp.dropout %x {p = 0.1} : tensor<1000x300xf32>
  %1 = mp.normal : tensor<1000x300xf32>
  return %0, %1 : tensor<1000x300xf32>, tensor<1000x300xf32>
}
func.func @four() -> tensor<4xf32> {
  %0 = mp.uniform stream(0) {high = 16777216.0} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
