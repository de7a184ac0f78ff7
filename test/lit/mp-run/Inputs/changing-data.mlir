// A perceptron for the data of changing-data.py.
module @changing {
  mp.variable @w1 : tensor<64x10xf32> = #mp.init<kaiming_uniform>
  mp.variable @w2 : tensor<10x64xf32> = #mp.init<kaiming_uniform>
  func.func @loss(%label: tensor<?xui8> {mp.name = "label"}, %bytes: tensor<?x10xui8> {mp.name = "x"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %x = mp.cast %bytes : tensor<?x10xui8> to tensor<?x10xf32>
    %w1 = mp.read @w1 : tensor<64x10xf32>
    %h = mp.linear %x, %w1 : tensor<?x10xf32>, tensor<64x10xf32>
    %a = mp.relu %h : tensor<?x64xf32>
    %w2 = mp.read @w2 : tensor<10x64xf32>
    %logits = mp.linear %a, %w2 : tensor<?x64xf32>, tensor<10x64xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }
  mp.train @step of @loss {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0e-4>}
  }
  mp.data @train {label = #mp.column<"label.npy" as npy, ui8>, x = #mp.column<"x.npy" as npy, ui8>}
}
