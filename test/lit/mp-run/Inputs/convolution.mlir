// A small network of convolutions, with a bias, a stride and groups, for the data of prior.py.
module @convolution {
  mp.variable @w1 : tensor<8x3x3x1xf32> = #mp.init<kaiming_uniform>
  mp.variable @b1 : tensor<8xf32> = #mp.init<zeros>
  mp.variable @w2 : tensor<8x3x3x4xf32> = #mp.init<kaiming_uniform>
  mp.variable @w3 : tensor<10x24xf32> = #mp.init<kaiming_uniform>
  func.func @loss(%label: tensor<?xui8> {mp.name = "label"}, %zero: tensor<?x10xui8> {mp.name = "zero"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %flat = mp.cast %zero : tensor<?x10xui8> to tensor<?x10xf32>
    %x = mp.reshape %flat : tensor<?x10xf32> to tensor<?x2x5x1xf32>
    %w1 = mp.read @w1 : tensor<8x3x3x1xf32>
    %b1 = mp.read @b1 : tensor<8xf32>
    %y = mp.conv2d %x, %w1, %b1 low[1, 1] high[1, 1] : tensor<?x2x5x1xf32>, tensor<8x3x3x1xf32>, tensor<8xf32>
    %a = mp.relu %y : tensor<?x2x5x8xf32>
    %w2 = mp.read @w2 : tensor<8x3x3x4xf32>
    %z = mp.conv2d %a, %w2 strides[2, 2] low[1, 1] high[1, 1] groups(2) : tensor<?x2x5x8xf32>, tensor<8x3x3x4xf32>
    %b = mp.relu %z : tensor<?x1x3x8xf32>
    %features = mp.reshape %b : tensor<?x1x3x8xf32> to tensor<?x24xf32>
    %w3 = mp.read @w3 : tensor<10x24xf32>
    %logits = mp.linear %features, %w3 : tensor<?x24xf32>, tensor<10x24xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }
  mp.train @step of @loss {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 1.0e-3>}
  }
  mp.data @train {label = #mp.column<"label.npy" as npy, ui8>, zero = #mp.column<"zero.npy" as npy, ui8>}
}
