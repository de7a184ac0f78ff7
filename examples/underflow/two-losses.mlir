// Two perceptrons for Fashion-MNIST whose losses are added, one with the weight 2^10 and one with 2^-30: whatever
// the loss scale, the gradients of one overflow in f16, or those of the other underflow. docs/calibration.md trains
// both with a scale for each gradient.
module @underflow_two_losses {
  mp.variable @large.fc1.weight : tensor<64x784xf32> = #mp.init<kaiming_uniform>
  mp.variable @large.fc1.bias : tensor<64xf32> = #mp.init<uniform, fan_in = 784>
  mp.variable @large.fc2.weight : tensor<10x64xf32> = #mp.init<kaiming_uniform>
  mp.variable @large.fc2.bias : tensor<10xf32> = #mp.init<uniform, fan_in = 64>

  mp.variable @small.fc1.weight : tensor<64x784xf32> = #mp.init<kaiming_uniform>
  mp.variable @small.fc1.bias : tensor<64xf32> = #mp.init<uniform, fan_in = 784>
  mp.variable @small.fc2.weight : tensor<10x64xf32> = #mp.init<kaiming_uniform>
  mp.variable @small.fc2.bias : tensor<10xf32> = #mp.init<uniform, fan_in = 64>

  func.func @loss(%image: tensor<?x28x28xui8> {mp.name = "image"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "large_accuracy"}, tensor<f32> {mp.name = "small_accuracy"}) {
    %pixels = mp.cast %image : tensor<?x28x28xui8> to tensor<?x28x28xf32>
    %flat = mp.reshape %pixels : tensor<?x28x28xf32> to tensor<?x784xf32>
    %white = mp.constant dense<255.0> : tensor<f32>
    %x = mp.div %flat, %white : tensor<?x784xf32>, tensor<f32>

    %w1 = mp.read @large.fc1.weight : tensor<64x784xf32>
    %b1 = mp.read @large.fc1.bias : tensor<64xf32>
    %h = mp.linear %x, %w1, %b1 : tensor<?x784xf32>, tensor<64x784xf32>, tensor<64xf32>
    %a = mp.relu %h : tensor<?x64xf32>
    %w2 = mp.read @large.fc2.weight : tensor<10x64xf32>
    %b2 = mp.read @large.fc2.bias : tensor<10xf32>
    %logits = mp.linear %a, %w2, %b2 : tensor<?x64xf32>, tensor<10x64xf32>, tensor<10xf32>
    %error = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    %accuracy = mp.accuracy %logits, %label : tensor<?x10xf32>, tensor<?xui8>

    %w1_s = mp.read @small.fc1.weight : tensor<64x784xf32>
    %b1_s = mp.read @small.fc1.bias : tensor<64xf32>
    %h_s = mp.linear %x, %w1_s, %b1_s : tensor<?x784xf32>, tensor<64x784xf32>, tensor<64xf32>
    %a_s = mp.relu %h_s : tensor<?x64xf32>
    %w2_s = mp.read @small.fc2.weight : tensor<10x64xf32>
    %b2_s = mp.read @small.fc2.bias : tensor<10xf32>
    %logits_s = mp.linear %a_s, %w2_s, %b2_s : tensor<?x64xf32>, tensor<10x64xf32>, tensor<10xf32>
    %error_s = mp.cross_entropy %logits_s, %label : tensor<?x10xf32>, tensor<?xui8>
    %accuracy_s = mp.accuracy %logits_s, %label : tensor<?x10xf32>, tensor<?xui8>

    %up = mp.constant dense<1024.0> : tensor<f32>
    %down = mp.constant dense<9.3132257461547852e-10> : tensor<f32>
    %large = mp.mul %error, %up : tensor<f32>, tensor<f32>
    %small = mp.mul %error_s, %down : tensor<f32>, tensor<f32>
    %loss = mp.add %large, %small : tensor<f32>, tensor<f32>
    return %loss, %accuracy, %accuracy_s : tensor<f32>, tensor<f32>, tensor<f32>
  }

  mp.scaler @scaler {preset = "static:1"}

  // Adam's steps do not depend on how large gradients are, as long as they are far from eps.
  mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 1.0e-3, eps = 1.0e-20>}
  }

  mp.data @train {image = #mp.column<"train-images*" as idx, ui8>, label = #mp.column<"train-labels*" as idx, ui8>}
  mp.data @test {image = #mp.column<"t10k-images*" as idx, ui8>, label = #mp.column<"t10k-labels*" as idx, ui8>}
}
