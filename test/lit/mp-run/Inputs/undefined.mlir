// The logarithm of a negative number, in every precision.
mp.variable @w : tensor<4xf32> = #mp.init<ones>
func.func @loss(%x: tensor<?x4xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<4xf32>
  %two = mp.constant dense<2.0> : tensor<f32>
  %below = mp.sub %w, %two : tensor<4xf32>, tensor<f32>
  %log = mp.log %below : tensor<4xf32>
  %y = mp.mul %x, %log : tensor<?x4xf32>, tensor<4xf32>
  %l = mp.mean %y dims[0, 1] : tensor<?x4xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = bf16>) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-3>}
}
mp.data @train {x = #mp.column<"x.npy" as npy, f32>}
