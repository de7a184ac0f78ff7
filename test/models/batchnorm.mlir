// Batch norm of channels and of columns, group, layer and RMS norm; running statistics are written with the parameters.
// classes: 5
module @batchnorm {
  mp.variable @bn1.weight : tensor<3xf32> = #mp.init<constant, value = 1.0>
  mp.variable @bn1.bias : tensor<3xf32> = #mp.init<zeros>
  mp.variable buffer @bn1.running_mean : tensor<3xf32> = #mp.init<zeros>
  mp.variable buffer @bn1.running_var : tensor<3xf32> = #mp.init<constant, value = 1.0>
  mp.variable @fc1.weight : tensor<42x105xf32> = #mp.init<kaiming_uniform>
  mp.variable @bn2.weight : tensor<42xf32> = #mp.init<constant, value = 1.0>
  mp.variable @bn2.bias : tensor<42xf32> = #mp.init<zeros>
  mp.variable buffer @bn2.running_mean : tensor<42xf32> = #mp.init<zeros>
  mp.variable buffer @bn2.running_var : tensor<42xf32> = #mp.init<constant, value = 1.0>
  mp.variable @gn.weight : tensor<6xf32> = #mp.init<constant, value = 1.0>
  mp.variable @gn.bias : tensor<6xf32> = #mp.init<zeros>
  mp.variable @ln.weight : tensor<42xf32> = #mp.init<constant, value = 1.0>
  mp.variable @ln.bias : tensor<42xf32> = #mp.init<zeros>
  mp.variable @fc2.weight : tensor<42x42xf32> = #mp.init<kaiming_uniform>
  mp.variable @rms.weight : tensor<42xf32> = #mp.init<constant, value = 1.0>
  mp.variable @head : tensor<5x42xf32> = #mp.init<kaiming_uniform>

  func.func @loss(%x: tensor<?x3x7x5xf32> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %w1 = mp.read @bn1.weight : tensor<3xf32>
    %b1 = mp.read @bn1.bias : tensor<3xf32>
    %m1 = mp.read @bn1.running_mean : tensor<3xf32>
    %v1 = mp.read @bn1.running_var : tensor<3xf32>
    %bn1, %mean1, %rstd1, %new_m1, %new_v1 = mp.batch_norm %x, %m1, %v1 weight(%w1 : tensor<3xf32>) bias(%b1 : tensor<3xf32>)
        : tensor<?x3x7x5xf32>, tensor<3xf32>, tensor<3xf32>
    mp.write @bn1.running_mean, %new_m1 : tensor<3xf32>
    mp.write @bn1.running_var, %new_v1 : tensor<3xf32>
    %image = mp.tanh %bn1 : tensor<?x3x7x5xf32>
    %flat = mp.reshape %image : tensor<?x3x7x5xf32> to tensor<?x105xf32>

    %fc1 = mp.read @fc1.weight : tensor<42x105xf32>
    %h1 = mp.linear %flat, %fc1 : tensor<?x105xf32>, tensor<42x105xf32>
    %w2 = mp.read @bn2.weight : tensor<42xf32>
    %b2 = mp.read @bn2.bias : tensor<42xf32>
    %m2 = mp.read @bn2.running_mean : tensor<42xf32>
    %v2 = mp.read @bn2.running_var : tensor<42xf32>
    %bn2, %mean2, %rstd2, %new_m2, %new_v2 = mp.batch_norm %h1, %m2, %v2 weight(%w2 : tensor<42xf32>) bias(%b2 : tensor<42xf32>)
        : tensor<?x42xf32>, tensor<42xf32>, tensor<42xf32>
    mp.write @bn2.running_mean, %new_m2 : tensor<42xf32>
    mp.write @bn2.running_var, %new_v2 : tensor<42xf32>
    %a2 = mp.relu %bn2 : tensor<?x42xf32>

    %groups = mp.reshape %a2 : tensor<?x42xf32> to tensor<?x6x7xf32>
    %w3 = mp.read @gn.weight : tensor<6xf32>
    %b3 = mp.read @gn.bias : tensor<6xf32>
    %gn, %mean3, %rstd3 = mp.group_norm %groups groups(3) weight(%w3 : tensor<6xf32>) bias(%b3 : tensor<6xf32>)
        : tensor<?x6x7xf32>
    %rows = mp.reshape %gn : tensor<?x6x7xf32> to tensor<?x42xf32>
    %sum = mp.add %rows, %a2 : tensor<?x42xf32>, tensor<?x42xf32>

    %w4 = mp.read @ln.weight : tensor<42xf32>
    %b4 = mp.read @ln.bias : tensor<42xf32>
    %ln, %mean4, %rstd4 = mp.layer_norm %sum weight(%w4 : tensor<42xf32>) bias(%b4 : tensor<42xf32>) : tensor<?x42xf32>
    %fc2 = mp.read @fc2.weight : tensor<42x42xf32>
    %h2 = mp.linear %ln, %fc2 : tensor<?x42xf32>, tensor<42x42xf32>
    %w5 = mp.read @rms.weight : tensor<42xf32>
    %rms, %rstd5 = mp.rms_norm %h2 weight(%w5 : tensor<42xf32>) : tensor<?x42xf32>
    %a5 = mp.gelu %rms : tensor<?x42xf32>
    %head = mp.read @head : tensor<5x42xf32>
    %logits = mp.linear %a5, %head : tensor<?x42xf32>, tensor<5x42xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x5xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }

  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
    mp.minimize result(0) {optimizer = #mp.adamw<lr = 1.0e-3>}
  }
  mp.data @train {x = #mp.column<"x.npy" as npy, f32>, label = #mp.column<"label.npy" as npy, ui8>}
}
