// Three layers of odd sizes, momentum, no decay on biases.
// classes: 7
module @mlp_odd {
  mp.variable @fc1.weight : tensor<29x53xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc1.bias : tensor<29xf32> = #mp.init<uniform, fan_in = 53>
  mp.variable @fc2.weight : tensor<31x29xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc2.bias : tensor<31xf32> = #mp.init<uniform, fan_in = 29>
  mp.variable @fc3.weight : tensor<7x31xf32> = #mp.init<kaiming_uniform>

  func.func @loss(%x: tensor<?x53xf32> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}) {
    %w1 = mp.read @fc1.weight : tensor<29x53xf32>
    %b1 = mp.read @fc1.bias : tensor<29xf32>
    %h1 = mp.linear %x, %w1, %b1 : tensor<?x53xf32>, tensor<29x53xf32>, tensor<29xf32>
    %a1 = mp.relu %h1 : tensor<?x29xf32>
    %w2 = mp.read @fc2.weight : tensor<31x29xf32>
    %b2 = mp.read @fc2.bias : tensor<31xf32>
    %h2 = mp.linear %a1, %w2, %b2 : tensor<?x29xf32>, tensor<31x29xf32>, tensor<31xf32>
    %a2 = mp.gelu %h2 : tensor<?x31xf32>
    %w3 = mp.read @fc3.weight : tensor<7x31xf32>
    %logits = mp.linear %a2, %w3 : tensor<?x31xf32>, tensor<7x31xf32>
    %loss = mp.cross_entropy %logits, %label {label_smoothing = 1.0e-1} : tensor<?x7xf32>, tensor<?xui8>
    %accuracy = mp.accuracy %logits, %label : tensor<?x7xf32>, tensor<?xui8>
    return %loss, %accuracy : tensor<f32>, tensor<f32>
  }

  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
    mp.minimize result(0) {params = ["*", "!*.bias"], optimizer = #mp.sgd<lr = 0.05, momentum = 0.9, weight_decay = 1.0e-4, nesterov = true>}
    mp.minimize result(0) {params = ["*.bias"], optimizer = #mp.sgd<lr = 0.05, momentum = 0.9>}
  }
  mp.data @train {x = #mp.column<"x.npy" as npy, f32>, label = #mp.column<"label.npy" as npy, ui8>}
}
