// One network and the recipes of docs/coming-from.md: how people write mixed precision elsewhere.
//
//   mp-run train network.mlir --function torch --data /usr/share/datasets/fashion-mnist
mp.variable @fc1.weight : tensor<128x784xf32> = #mp.init<kaiming_uniform>
mp.variable @fc1.bias : tensor<128xf32> = #mp.init<uniform, fan_in = 784>
mp.variable @norm.weight : tensor<128xf32> = #mp.init<constant, value = 1.0>
mp.variable @norm.bias : tensor<128xf32> = #mp.init<zeros>
mp.variable @fc2.weight : tensor<10x128xf32> = #mp.init<kaiming_uniform>
mp.variable @fc2.bias : tensor<10xf32> = #mp.init<uniform, fan_in = 128>

func.func @loss(%image: tensor<?x28x28xui8> {mp.name = "image"}, %label: tensor<?xui8> {mp.name = "label"})
    -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}) {
  %pixels = mp.cast %image : tensor<?x28x28xui8> to tensor<?x28x28xf32>
  %flat = mp.reshape %pixels : tensor<?x28x28xf32> to tensor<?x784xf32>
  %white = mp.constant dense<255.0> : tensor<f32>
  %x = mp.div %flat, %white : tensor<?x784xf32>, tensor<f32>

  %w1 = mp.read @fc1.weight : tensor<128x784xf32>
  %b1 = mp.read @fc1.bias : tensor<128xf32>
  %h = mp.linear %x, %w1, %b1 : tensor<?x784xf32>, tensor<128x784xf32>, tensor<128xf32>
  %g = mp.read @norm.weight : tensor<128xf32>
  %s = mp.read @norm.bias : tensor<128xf32>
  %n, %mean, %rstd = mp.layer_norm %h weight(%g : tensor<128xf32>) bias(%s : tensor<128xf32>) : tensor<?x128xf32>
  %a = mp.gelu %n : tensor<?x128xf32>
  %w2 = mp.read @fc2.weight : tensor<10x128xf32>
  %b2 = mp.read @fc2.bias : tensor<10xf32>
  %logits = mp.linear %a, %w2, %b2 : tensor<?x128xf32>, tensor<10x128xf32>, tensor<10xf32>

  %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
  %accuracy = mp.accuracy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
  return %loss, %accuracy : tensor<f32>, tensor<f32>
}

mp.scaler @torch_scaler {preset = "torch"}
mp.train @torch of @loss autocast(<dtype = f16, policy = "torch">) scaler(@torch_scaler) attributes {clip_norm = 1.0} {
  mp.minimize result(0) {optimizer = #mp.adamw<lr = 1.0e-3>}
}

mp.scaler @keras_scaler {preset = "keras"}
mp.train @keras of @loss autocast(<dtype = f16, policy = "keras">) scaler(@keras_scaler) {
  mp.minimize result(0) {optimizer = #mp.adam<lr = 1.0e-3>}
}

mp.train @huggingface of @loss autocast(<dtype = bf16>) accumulate(4) attributes {clip_norm = 1.0} {
  mp.minimize result(0) {optimizer = #mp.adamw<lr = 5.0e-5, weight_decay = 1.0e-2>, schedule = #mp.warmup<steps = 10, then = #mp.linear<to = 0.0>>}
}

mp.scaler @apex_scaler {preset = "apex"}
mp.train @apex of @loss autocast(<dtype = f16, policy = "apex-o2">) scaler(@apex_scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-1, momentum = 9.0e-1>}
}

mp.train @transformer_engine of @loss autocast(<dtype = bf16, policy = "fp8">) {
  mp.minimize result(0) {optimizer = #mp.adamw<lr = 1.0e-3>}
}

mp.scaler @eight_scaler {init_scale = 1024.0}
mp.train @eight_steps of @loss autocast(<dtype = f16, policy = "ort">) scaler(@eight_scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 5.0e-2>}
}

mp.data @train {image = #mp.column<"train-images*" as idx, ui8>, label = #mp.column<"train-labels*" as idx, ui8>}
mp.data @test {image = #mp.column<"t10k-images*" as idx, ui8>, label = #mp.column<"t10k-labels*" as idx, ui8>}
