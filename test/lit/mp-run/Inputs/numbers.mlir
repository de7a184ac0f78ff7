func.func @f32(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @f16(%x: tensor<f16>) -> tensor<f16> {
  return %x : tensor<f16>
}
func.func @i32(%x: tensor<i32>) -> tensor<i32> {
  return %x : tensor<i32>
}
func.func @i64(%x: tensor<i64>) -> tensor<i64> {
  return %x : tensor<i64>
}
