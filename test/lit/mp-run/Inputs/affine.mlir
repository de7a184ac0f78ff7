func.func @affine(%x: tensor<?x3xf32> {mp.name = "x"}, %scale: tensor<f32> {mp.name = "scale"}) -> (tensor<?x3xf32> {mp.name = "y"}) {
  %y = mp.mul %x, %scale : tensor<?x3xf32>, tensor<f32>
  return %y : tensor<?x3xf32>
}
