// Eight layers, 1024 wide: 7.2 million parameters, so that most of a step is products of matrices.
module @mlp_8x1024 {
  mp.variable @fc1.weight : tensor<1024x784xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc1.bias : tensor<1024xf32> = #mp.init<uniform, fan_in = 784>
  mp.variable @fc2.weight : tensor<1024x1024xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc2.bias : tensor<1024xf32> = #mp.init<uniform, fan_in = 1024>
  mp.variable @fc3.weight : tensor<1024x1024xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc3.bias : tensor<1024xf32> = #mp.init<uniform, fan_in = 1024>
  mp.variable @fc4.weight : tensor<1024x1024xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc4.bias : tensor<1024xf32> = #mp.init<uniform, fan_in = 1024>
  mp.variable @fc5.weight : tensor<1024x1024xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc5.bias : tensor<1024xf32> = #mp.init<uniform, fan_in = 1024>
  mp.variable @fc6.weight : tensor<1024x1024xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc6.bias : tensor<1024xf32> = #mp.init<uniform, fan_in = 1024>
  mp.variable @fc7.weight : tensor<1024x1024xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc7.bias : tensor<1024xf32> = #mp.init<uniform, fan_in = 1024>
  mp.variable @fc8.weight : tensor<10x1024xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc8.bias : tensor<10xf32> = #mp.init<uniform, fan_in = 1024>

  func.func @loss(%image: tensor<?x28x28xui8> {mp.name = "image"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}) {
    %pixels = mp.cast %image : tensor<?x28x28xui8> to tensor<?x28x28xf32>
    %flat = mp.reshape %pixels : tensor<?x28x28xf32> to tensor<?x784xf32>
    %white = mp.constant dense<255.0> : tensor<f32>
    %a0 = mp.div %flat, %white : tensor<?x784xf32>, tensor<f32>

    %w1 = mp.read @fc1.weight : tensor<1024x784xf32>
    %b1 = mp.read @fc1.bias : tensor<1024xf32>
    %h1 = mp.linear %a0, %w1, %b1 : tensor<?x784xf32>, tensor<1024x784xf32>, tensor<1024xf32>
    %a1 = mp.relu %h1 : tensor<?x1024xf32>

    %w2 = mp.read @fc2.weight : tensor<1024x1024xf32>
    %b2 = mp.read @fc2.bias : tensor<1024xf32>
    %h2 = mp.linear %a1, %w2, %b2 : tensor<?x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
    %a2 = mp.relu %h2 : tensor<?x1024xf32>

    %w3 = mp.read @fc3.weight : tensor<1024x1024xf32>
    %b3 = mp.read @fc3.bias : tensor<1024xf32>
    %h3 = mp.linear %a2, %w3, %b3 : tensor<?x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
    %a3 = mp.relu %h3 : tensor<?x1024xf32>

    %w4 = mp.read @fc4.weight : tensor<1024x1024xf32>
    %b4 = mp.read @fc4.bias : tensor<1024xf32>
    %h4 = mp.linear %a3, %w4, %b4 : tensor<?x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
    %a4 = mp.relu %h4 : tensor<?x1024xf32>

    %w5 = mp.read @fc5.weight : tensor<1024x1024xf32>
    %b5 = mp.read @fc5.bias : tensor<1024xf32>
    %h5 = mp.linear %a4, %w5, %b5 : tensor<?x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
    %a5 = mp.relu %h5 : tensor<?x1024xf32>

    %w6 = mp.read @fc6.weight : tensor<1024x1024xf32>
    %b6 = mp.read @fc6.bias : tensor<1024xf32>
    %h6 = mp.linear %a5, %w6, %b6 : tensor<?x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
    %a6 = mp.relu %h6 : tensor<?x1024xf32>

    %w7 = mp.read @fc7.weight : tensor<1024x1024xf32>
    %b7 = mp.read @fc7.bias : tensor<1024xf32>
    %h7 = mp.linear %a6, %w7, %b7 : tensor<?x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
    %a7 = mp.relu %h7 : tensor<?x1024xf32>

    %w8 = mp.read @fc8.weight : tensor<10x1024xf32>
    %b8 = mp.read @fc8.bias : tensor<10xf32>
    %logits = mp.linear %a7, %w8, %b8 : tensor<?x1024xf32>, tensor<10x1024xf32>, tensor<10xf32>

    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    %accuracy = mp.accuracy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss, %accuracy : tensor<f32>, tensor<f32>
  }

  mp.scaler @scaler {preset = "torch"}

  mp.train @step of @loss autocast(<dtype = bf16, policy = "torch">) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 1.0e-4>}
  }

  mp.data @train {image = #mp.column<"train-images*" as idx, ui8>, label = #mp.column<"train-labels*" as idx, ui8>}
  mp.data @test {image = #mp.column<"t10k-images*" as idx, ui8>, label = #mp.column<"t10k-labels*" as idx, ui8>}
}
