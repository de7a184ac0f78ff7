// Files have channels first, in images as in weights; the graph has them last.
mp.variable @conv.weight : tensor<4x2x3x5xf32> dims_in_files[0, 3, 1, 2] = #mp.init<kaiming_uniform>
mp.variable @conv.bias : tensor<4xf32> = #mp.init<zeros>

func.func @loss(%image: tensor<?x4x6x5xf32> {mp.name = "image"}, %wanted: tensor<?x3x4x4xf32> {mp.name = "wanted"})
    -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @conv.weight : tensor<4x2x3x5xf32>
  %b = mp.read @conv.bias : tensor<4xf32>
  %y = mp.conv2d %image, %w, %b : tensor<?x4x6x5xf32>, tensor<4x2x3x5xf32>, tensor<4xf32>
  %loss = mp.mse_loss %y, %wanted : tensor<?x3x4x4xf32>, tensor<?x3x4x4xf32>
  return %loss : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-3, momentum = 0.9>, ema = 0.5}
}
mp.data @train {image = #mp.column<"image.npy" as npy, f32 dims_in_files[0, 3, 1, 2]>,
                wanted = #mp.column<"all.safetensors" as safetensors, f32 dims_in_files[0, 3, 1, 2], key = "wanted">}
mp.data @test {image = #mp.column<"image.npy" as npy, f32 dims_in_files[0, 3, 1, 2]>,
               wanted = #mp.column<"all.safetensors" as safetensors, f32 dims_in_files[0, 3, 1, 2], key = "wanted">}
