// 1.2 GiB of weights and slots, for the data of prior.py.
module @large {
  mp.variable @w1 : tensor<8000x10xf32> = #mp.init<kaiming_uniform>
  mp.variable @w2 : tensor<12000x8000xf32> = #mp.init<kaiming_uniform>
  mp.variable @w3 : tensor<10x12000xf32> = #mp.init<kaiming_uniform>
  func.func @loss(%label: tensor<?xui8> {mp.name = "label"}, %zero: tensor<?x10xui8> {mp.name = "zero"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %x = mp.cast %zero : tensor<?x10xui8> to tensor<?x10xf32>
    %w1 = mp.read @w1 : tensor<8000x10xf32>
    %a = mp.linear %x, %w1 : tensor<?x10xf32>, tensor<8000x10xf32>
    %w2 = mp.read @w2 : tensor<12000x8000xf32>
    %b = mp.linear %a, %w2 : tensor<?x8000xf32>, tensor<12000x8000xf32>
    %w3 = mp.read @w3 : tensor<10x12000xf32>
    %logits = mp.linear %b, %w3 : tensor<?x12000xf32>, tensor<10x12000xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }
  mp.train @step of @loss {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 1.0e-3>}
  }
  mp.data @train {label = #mp.column<"label.npy" as npy, ui8>, zero = #mp.column<"zero.npy" as npy, ui8>}
}
