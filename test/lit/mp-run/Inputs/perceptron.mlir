// A perceptron for the data of prior.py, trained by AdamW: 10762 parameters.
module @perceptron {
  mp.variable @w1 : tensor<512x10xf32> = #mp.init<kaiming_uniform>
  mp.variable @b1 : tensor<512xf32> = #mp.init<zeros>
  mp.variable @w2 : tensor<10x512xf32> = #mp.init<kaiming_uniform>
  mp.variable @b2 : tensor<10xf32> = #mp.init<zeros>
  func.func @loss(%label: tensor<?xui8> {mp.name = "label"}, %zero: tensor<?x10xui8> {mp.name = "zero"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %x = mp.cast %zero : tensor<?x10xui8> to tensor<?x10xf32>
    %w1 = mp.read @w1 : tensor<512x10xf32>
    %b1 = mp.read @b1 : tensor<512xf32>
    %h = mp.linear %x, %w1, %b1 : tensor<?x10xf32>, tensor<512x10xf32>, tensor<512xf32>
    %a = mp.relu %h : tensor<?x512xf32>
    %w2 = mp.read @w2 : tensor<10x512xf32>
    %b2 = mp.read @b2 : tensor<10xf32>
    %logits = mp.linear %a, %w2, %b2 : tensor<?x512xf32>, tensor<10x512xf32>, tensor<10xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }
  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 1.0e-3>}
  }
  mp.data @train {label = #mp.column<"label.npy" as npy, ui8>, zero = #mp.column<"zero.npy" as npy, ui8>}
}
