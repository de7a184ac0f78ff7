// A loss scale so large that the first steps overflow: they are skipped, and the scale comes down.
// classes: 5
module @overflow {
  mp.variable @weight : tensor<5x40xf32> = #mp.init<kaiming_uniform>
  mp.variable @bias : tensor<5xf32> = #mp.init<zeros>

  func.func @loss(%x: tensor<?x40xf32> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %w = mp.read @weight : tensor<5x40xf32>
    %b = mp.read @bias : tensor<5xf32>
    %logits = mp.linear %x, %w, %b : tensor<?x40xf32>, tensor<5x40xf32>, tensor<5xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x5xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }

  mp.scaler @scaler {preset = "torch", init_scale = 1.6777216e+07, growth_interval = 4}
  mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
    mp.minimize result(0) {optimizer = #mp.adamw<lr = 1.0e-3>}
  }
  mp.data @train {x = #mp.column<"x.npy" as npy, f32>, label = #mp.column<"label.npy" as npy, ui8>}
}
