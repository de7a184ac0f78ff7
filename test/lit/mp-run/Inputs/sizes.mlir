func.func @empty() -> tensor<4xf32> {
  %x = mp.constant dense<> : tensor<4x0xf32>
  %y = mp.sum %x dims[1] : tensor<4x0xf32>
  return %y : tensor<4xf32>
}

func.func @endless(%x: tensor<70368744177664x4xf32>) -> tensor<f32> {
  %y = mp.sum %x dims[0, 1] : tensor<70368744177664x4xf32>
  return %y : tensor<f32>
}

func.func @huge(%x: tensor<f32>) -> tensor<1000000xf32> {
  %b = mp.broadcast %x : tensor<f32> to tensor<1000000x1000000xf32>
  %t = mp.transpose %b [1, 0] : tensor<1000000x1000000xf32>
  %y = mp.sum %t dims[0] : tensor<1000000x1000000xf32>
  return %y : tensor<1000000xf32>
}

func.func @batch(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}
