// Sizes that divide nothing: 61 and 37 hidden units, gelu and softplus, SGD with
// momentum. Rows of no multiple of a vector, products with ragged edges.
module @odd_gelu {
  mp.variable @in.weight : tensor<61x784xf32> = #mp.init<kaiming_uniform>
  mp.variable @in.bias : tensor<61xf32> = #mp.init<zeros>
  mp.variable @mid.weight : tensor<37x61xf32> = #mp.init<kaiming_uniform>
  mp.variable @mid.bias : tensor<37xf32> = #mp.init<zeros>
  mp.variable @out.weight : tensor<10x37xf32> = #mp.init<kaiming_uniform>

  func.func @loss(%image: tensor<?x28x28xui8> {mp.name = "image"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}) {
    %pixels = mp.cast %image : tensor<?x28x28xui8> to tensor<?x28x28xf32>
    %flat = mp.reshape %pixels : tensor<?x28x28xf32> to tensor<?x784xf32>
    %white = mp.constant dense<255.0> : tensor<f32>
    %x = mp.div %flat, %white : tensor<?x784xf32>, tensor<f32>
    %w1 = mp.read @in.weight : tensor<61x784xf32>
    %b1 = mp.read @in.bias : tensor<61xf32>
    %h1 = mp.linear %x, %w1, %b1 : tensor<?x784xf32>, tensor<61x784xf32>, tensor<61xf32>
    %a1 = mp.gelu %h1 : tensor<?x61xf32>
    %w2 = mp.read @mid.weight : tensor<37x61xf32>
    %b2 = mp.read @mid.bias : tensor<37xf32>
    %h2 = mp.linear %a1, %w2, %b2 : tensor<?x61xf32>, tensor<37x61xf32>, tensor<37xf32>
    %a2 = mp.softplus %h2 : tensor<?x37xf32>
    %w3 = mp.read @out.weight : tensor<10x37xf32>
    %logits = mp.linear %a2, %w3 : tensor<?x37xf32>, tensor<10x37xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    %accuracy = mp.accuracy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss, %accuracy : tensor<f32>, tensor<f32>
  }

  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 0.05, momentum = 0.9, nesterov = true>}
  }
  mp.data @train {image = #mp.column<"train-images*" as idx, ui8>, label = #mp.column<"train-labels*" as idx, ui8>}
}
