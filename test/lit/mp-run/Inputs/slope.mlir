// d(x y)/dx at y = x: a value that is passed twice is two arguments.
func.func private @slope(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %p = mp.mul %x, %y : tensor<f32>, tensor<f32>
  %d = mp.gradient %p of %x : tensor<f32>, tensor<f32>
  return %d : tensor<f32>
}
func.func @same(%x: tensor<f32>) -> tensor<f32> {
  %d = call @slope(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %d : tensor<f32>
}
