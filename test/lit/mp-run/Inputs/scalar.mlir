func.func @double(%x: tensor<f32>) -> tensor<f32> {
  %y = mp.add %x, %x : tensor<f32>, tensor<f32>
  return %y : tensor<f32>
}
