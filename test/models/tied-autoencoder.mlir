// One weight used twice, the second time transposed; tanh and sigmoid; a loss of
// means and squares; decay on the weight alone.
module @tied_autoencoder {
  mp.variable @code.weight : tensor<48x784xf32> = #mp.init<kaiming_uniform>
  mp.variable @code.bias : tensor<48xf32> = #mp.init<zeros>
  mp.variable @image.bias : tensor<784xf32> = #mp.init<zeros>

  func.func @loss(%image: tensor<?x28x28xui8> {mp.name = "image"}) -> (tensor<f32> {mp.name = "loss"}) {
    %pixels = mp.cast %image : tensor<?x28x28xui8> to tensor<?x28x28xf32>
    %flat = mp.reshape %pixels : tensor<?x28x28xf32> to tensor<?x784xf32>
    %white = mp.constant dense<255.0> : tensor<f32>
    %x = mp.div %flat, %white : tensor<?x784xf32>, tensor<f32>
    %w = mp.read @code.weight : tensor<48x784xf32>
    %b = mp.read @code.bias : tensor<48xf32>
    %h = mp.linear %x, %w, %b : tensor<?x784xf32>, tensor<48x784xf32>, tensor<48xf32>
    %code = mp.tanh %h : tensor<?x48xf32>
    %back = mp.matmul %code, %w : tensor<?x48xf32>, tensor<48x784xf32>
    %c = mp.read @image.bias : tensor<784xf32>
    %sum = mp.add %back, %c : tensor<?x784xf32>, tensor<784xf32>
    %y = mp.sigmoid %sum : tensor<?x784xf32>
    %d = mp.sub %y, %x : tensor<?x784xf32>, tensor<?x784xf32>
    %square = mp.mul %d, %d : tensor<?x784xf32>, tensor<?x784xf32>
    %loss = mp.mean %square dims[0, 1] : tensor<?x784xf32>
    return %loss : tensor<f32>
  }

  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
    mp.minimize result(0) {params = ["*.weight"], optimizer = #mp.adamw<lr = 1.0e-3, weight_decay = 1.0e-1>}
    mp.minimize result(0) {params = ["*.bias"], optimizer = #mp.adamw<lr = 1.0e-3, weight_decay = 0.0>}
  }
  mp.data @train {image = #mp.column<"train-images*" as idx, ui8>}
}
