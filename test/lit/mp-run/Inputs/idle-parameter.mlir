module @idle_parameter {
  mp.variable @weight : tensor<10x784xf32> = #mp.init<kaiming_uniform>
  mp.variable @idle : tensor<10xf32> = #mp.init<zeros>
  func.func @loss(%image: tensor<?x28x28xui8> {mp.name = "image"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %pixels = mp.cast %image : tensor<?x28x28xui8> to tensor<?x28x28xf32>
    %x = mp.reshape %pixels : tensor<?x28x28xf32> to tensor<?x784xf32>
    %weight = mp.read @weight : tensor<10x784xf32>
    %idle = mp.read @idle : tensor<10xf32>
    %logits = mp.linear %x, %weight : tensor<?x784xf32>, tensor<10x784xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }
  mp.train @step of @loss {
    mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-3>}
  }
  mp.data @train {image = #mp.column<"train-images*" as idx, ui8>, label = #mp.column<"train-labels*" as idx, ui8>}
}
