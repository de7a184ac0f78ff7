// The example with 4096 neurons per layer, 20 million parameters: more than a cache holds, so that kernels run
// at the speed of memory.
module @wide {
  mp.variable @fc1.weight : tensor<4096x784xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc1.bias : tensor<4096xf32> = #mp.init<uniform, fan_in = 784>
  mp.variable @fc2.weight : tensor<4096x4096xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc2.bias : tensor<4096xf32> = #mp.init<uniform, fan_in = 4096>
  mp.variable @fc3.weight : tensor<10x4096xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc3.bias : tensor<10xf32> = #mp.init<uniform, fan_in = 4096>

  func.func @loss(%image: tensor<?x28x28xui8> {mp.name = "image"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}) {
    %pixels = mp.cast %image : tensor<?x28x28xui8> to tensor<?x28x28xf32>
    %flat = mp.reshape %pixels : tensor<?x28x28xf32> to tensor<?x784xf32>
    %white = mp.constant dense<255.0> : tensor<f32>
    %x = mp.div %flat, %white : tensor<?x784xf32>, tensor<f32>

    %w1 = mp.read @fc1.weight : tensor<4096x784xf32>
    %b1 = mp.read @fc1.bias : tensor<4096xf32>
    %h1 = mp.linear %x, %w1, %b1 : tensor<?x784xf32>, tensor<4096x784xf32>, tensor<4096xf32>
    %a1 = mp.relu %h1 : tensor<?x4096xf32>

    %w2 = mp.read @fc2.weight : tensor<4096x4096xf32>
    %b2 = mp.read @fc2.bias : tensor<4096xf32>
    %h2 = mp.linear %a1, %w2, %b2 : tensor<?x4096xf32>, tensor<4096x4096xf32>, tensor<4096xf32>
    %a2 = mp.relu %h2 : tensor<?x4096xf32>

    %w3 = mp.read @fc3.weight : tensor<10x4096xf32>
    %b3 = mp.read @fc3.bias : tensor<10xf32>
    %logits = mp.linear %a2, %w3, %b3 : tensor<?x4096xf32>, tensor<10x4096xf32>, tensor<10xf32>

    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    %accuracy = mp.accuracy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss, %accuracy : tensor<f32>, tensor<f32>
  }

  mp.scaler @scaler {preset = "torch"}

  mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 1.0e-3>, schedule = #mp.linear<to = 0.0>}
  }

  mp.data @train {image = #mp.column<"train-images*" as idx, ui8>, label = #mp.column<"train-labels*" as idx, ui8>}
  mp.data @test {image = #mp.column<"t10k-images*" as idx, ui8>, label = #mp.column<"t10k-labels*" as idx, ui8>}
}
