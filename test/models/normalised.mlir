// Layer norm written out, a residual branch, and the activations that mlp-odd leaves out; a squared error.
module @normalised {
  mp.variable @fc1.weight : tensor<45x45xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc1.bias : tensor<45xf32> = #mp.init<uniform, fan_in = 45>
  mp.variable @norm.weight : tensor<45xf32> = #mp.init<constant, value = 1.0>
  mp.variable @norm.bias : tensor<45xf32> = #mp.init<zeros>
  mp.variable @fc2.weight : tensor<45x45xf32> = #mp.init<kaiming_uniform>
  mp.variable @head : tensor<3x45xf32> = #mp.init<kaiming_uniform>

  func.func @loss(%x: tensor<?x45xf32> {mp.name = "x"}, %y: tensor<?x3xf32> {mp.name = "y"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %w1 = mp.read @fc1.weight : tensor<45x45xf32>
    %b1 = mp.read @fc1.bias : tensor<45xf32>
    %h = mp.linear %x, %w1, %b1 : tensor<?x45xf32>, tensor<45x45xf32>, tensor<45xf32>
    %tanh = mp.tanh %h : tensor<?x45xf32>
    %sum = mp.add %tanh, %x : tensor<?x45xf32>, tensor<?x45xf32>

    %mean = mp.mean %sum dims[1] keepdim : tensor<?x45xf32>
    %centred = mp.sub %sum, %mean : tensor<?x45xf32>, tensor<?x1xf32>
    %square = mp.mul %centred, %centred : tensor<?x45xf32>, tensor<?x45xf32>
    %variance = mp.mean %square dims[1] keepdim : tensor<?x45xf32>
    %epsilon = mp.constant dense<1.0e-5> : tensor<f32>
    %safe = mp.add %variance, %epsilon : tensor<?x1xf32>, tensor<f32>
    %deviation = mp.sqrt %safe : tensor<?x1xf32>
    %unit = mp.div %centred, %deviation : tensor<?x45xf32>, tensor<?x1xf32>
    %g = mp.read @norm.weight : tensor<45xf32>
    %b = mp.read @norm.bias : tensor<45xf32>
    %stretched = mp.mul %unit, %g : tensor<?x45xf32>, tensor<45xf32>
    %normed = mp.add %stretched, %b : tensor<?x45xf32>, tensor<45xf32>

    %w2 = mp.read @fc2.weight : tensor<45x45xf32>
    %h2 = mp.linear %normed, %w2 : tensor<?x45xf32>, tensor<45x45xf32>
    %gate = mp.sigmoid %h2 : tensor<?x45xf32>
    %soft = mp.softplus %h2 : tensor<?x45xf32>
    %gated = mp.mul %gate, %soft : tensor<?x45xf32>, tensor<?x45xf32>
    %head = mp.read @head : tensor<3x45xf32>
    %out = mp.linear %gated, %head : tensor<?x45xf32>, tensor<3x45xf32>
    %error = mp.sub %out, %y : tensor<?x3xf32>, tensor<?x3xf32>
    %squared = mp.mul %error, %error : tensor<?x3xf32>, tensor<?x3xf32>
    %loss = mp.mean %squared dims[0, 1] : tensor<?x3xf32>
    return %loss : tensor<f32>
  }

  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
    mp.minimize result(0) {optimizer = #mp.adamw<lr = 1.0e-3, weight_decay = 1.0e-2>, schedule = #mp.linear<to = 0.0>}
  }
  mp.data @train {x = #mp.column<"x.npy" as npy, f32>, y = #mp.column<"y.npy" as npy, f32>}
}
