// Rows too long to keep in registers, several to a block, whose sums down the columns
// are gradients.
module @wide_rows {
  mp.variable @g : tensor<300xf32> = #mp.init<uniform, fan_in = 31>
  mp.variable @h : tensor<300xf32> = #mp.init<uniform, fan_in = 31>
  func.func @loss(%x: tensor<?x300xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
    %g = mp.read @g : tensor<300xf32>
    %h = mp.read @h : tensor<300xf32>
    %y = mp.mul %x, %g : tensor<?x300xf32>, tensor<300xf32>
    %z = mp.add %y, %h : tensor<?x300xf32>, tensor<300xf32>
    %s = mp.softmax %z dim(1) : tensor<?x300xf32>
    %q = mp.mul %s, %s : tensor<?x300xf32>, tensor<?x300xf32>
    %m = mp.mean %q dims[0, 1] : tensor<?x300xf32>
    %v = mp.mean %z dims[1] : tensor<?x300xf32>
    %v2 = mp.mul %v, %v : tensor<?xf32>, tensor<?xf32>
    %w = mp.mean %v2 dims[0] : tensor<?xf32>
    %l = mp.add %m, %w : tensor<f32>, tensor<f32>
    return %l : tensor<f32>
  }
  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) { mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 0.1>} }
  mp.data @train {x = #mp.column<"x.npy" as npy, f32>}
}
