// The gradient of @w is 80000, which in f16 overflows at a loss scale of 1.
mp.variable @w : tensor<2x4xf32> = #mp.init<constant, value = 0.5>
func.func @loss(%x: tensor<?x10xui8> {mp.name = "zero"}, %label: tensor<?xui8> {mp.name = "label"})
    -> (tensor<f32> {mp.name = "loss"}) {
  %ones = mp.constant dense<1.0> : tensor<8x4xf32>
  %w = mp.read @w : tensor<2x4xf32>
  %y = mp.linear %ones, %w : tensor<8x4xf32>, tensor<2x4xf32>
  %steep = mp.constant dense<10000.0> : tensor<f32>
  %z = mp.mul %y, %steep : tensor<8x2xf32>, tensor<f32>
  %sum = mp.sum %z dims[0, 1] : tensor<8x2xf32>
  return %sum : tensor<f32>
}
mp.scaler @scaler {preset = "torch"}
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-9>}
}
mp.data @train {zero = #mp.column<"zero.npy" as npy, ui8>, label = #mp.column<"label.npy" as npy, ui8>}
