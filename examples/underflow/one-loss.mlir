// A perceptron for Fashion-MNIST whose loss has the weight 2^-24, as a term among larger ones has: its gradients
// are less than f16 can hold. docs/calibration.md trains it with a loss scale and without.
module @underflow_one_loss {
  mp.variable @fc1.weight : tensor<64x784xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc1.bias : tensor<64xf32> = #mp.init<uniform, fan_in = 784>
  mp.variable @fc2.weight : tensor<10x64xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc2.bias : tensor<10xf32> = #mp.init<uniform, fan_in = 64>

  func.func @loss(%image: tensor<?x28x28xui8> {mp.name = "image"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "error"}, tensor<f32> {mp.name = "accuracy"}) {
    %pixels = mp.cast %image : tensor<?x28x28xui8> to tensor<?x28x28xf32>
    %flat = mp.reshape %pixels : tensor<?x28x28xf32> to tensor<?x784xf32>
    %white = mp.constant dense<255.0> : tensor<f32>
    %x = mp.div %flat, %white : tensor<?x784xf32>, tensor<f32>

    %w1 = mp.read @fc1.weight : tensor<64x784xf32>
    %b1 = mp.read @fc1.bias : tensor<64xf32>
    %h = mp.linear %x, %w1, %b1 : tensor<?x784xf32>, tensor<64x784xf32>, tensor<64xf32>
    %a = mp.relu %h : tensor<?x64xf32>
    %w2 = mp.read @fc2.weight : tensor<10x64xf32>
    %b2 = mp.read @fc2.bias : tensor<10xf32>
    %logits = mp.linear %a, %w2, %b2 : tensor<?x64xf32>, tensor<10x64xf32>, tensor<10xf32>
    %error = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    %accuracy = mp.accuracy %logits, %label : tensor<?x10xf32>, tensor<?xui8>

    %weight = mp.constant dense<5.9604644775390625e-8> : tensor<f32>
    %loss = mp.mul %error, %weight : tensor<f32>, tensor<f32>
    return %loss, %error, %accuracy : tensor<f32>, tensor<f32>, tensor<f32>
  }

  mp.scaler @scaler {preset = "static:auto"}

  // Adam's steps do not depend on how large gradients are, as long as they are far from eps.
  mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 1.0e-3, eps = 1.0e-20>}
  }

  mp.data @train {image = #mp.column<"train-images*" as idx, ui8>, label = #mp.column<"train-labels*" as idx, ui8>}
  mp.data @test {image = #mp.column<"t10k-images*" as idx, ui8>, label = #mp.column<"t10k-labels*" as idx, ui8>}
}
