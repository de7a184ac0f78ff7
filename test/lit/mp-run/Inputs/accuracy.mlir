func.func @f(%x: tensor<8x6xf32>, %y: tensor<8xi32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %1 = mp.accuracy %x, %y : tensor<8x6xf32>, tensor<8xi32>
  %2 = mp.accuracy %x, %y {top_k = 2} : tensor<8x6xf32>, tensor<8xi32>
  %5 = mp.accuracy %x, %y {top_k = 5} : tensor<8x6xf32>, tensor<8xi32>
  %6 = mp.accuracy %x, %y {top_k = 6} : tensor<8x6xf32>, tensor<8xi32>
  return %1, %2, %5, %6 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
