// Everything that a checkpoint has to hold: dropout, AdamW, a schedule, and a loss scale that overflows a few steps.
module @net {
  mp.variable @w1 : tensor<64x8xf32> = #mp.init<kaiming_uniform>
  mp.variable @b1 : tensor<64xf32> = #mp.init<zeros>
  mp.variable @w2 : tensor<4x64xf32> = #mp.init<kaiming_uniform>
  func.func @loss(%x: tensor<?x8xf32> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %w1 = mp.read @w1 : tensor<64x8xf32>
    %b1 = mp.read @b1 : tensor<64xf32>
    %h = mp.linear %x, %w1, %b1 : tensor<?x8xf32>, tensor<64x8xf32>, tensor<64xf32>
    %a = mp.gelu %h : tensor<?x64xf32>
    %d = mp.dropout %a {p = 0.1} : tensor<?x64xf32>
    %w2 = mp.read @w2 : tensor<4x64xf32>
    %y = mp.linear %d, %w2 : tensor<?x64xf32>, tensor<4x64xf32>
    %loss = mp.cross_entropy %y, %label : tensor<?x4xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }
  mp.scaler @scaler {preset = "torch", init_scale = 4194304.0, growth_interval = 5}
  mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 1.0e-2>, schedule = #mp.linear<to = 0.0>}
  }
  mp.data @train {x = #mp.column<"x.npy" as npy, f32>, label = #mp.column<"label.npy" as npy, ui8>}
}
