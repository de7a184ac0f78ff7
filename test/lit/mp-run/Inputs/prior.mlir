// Learns the frequency of each label: without a contraction, so that every op
// is a kernel of stages.
module @prior {
  mp.variable @bias : tensor<10xf32> = #mp.init<uniform, fan_in = 10>
  mp.variable @slope : tensor<10xf32> = #mp.init<zeros>
  func.func @loss(%label: tensor<?xui8> {mp.name = "label"}, %zero: tensor<?x10xui8> {mp.name = "zero"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}) {
    %z = mp.cast %zero : tensor<?x10xui8> to tensor<?x10xf32>
    %b = mp.read @bias : tensor<10xf32>
    %s = mp.read @slope : tensor<10xf32>
    %p = mp.mul %z, %s : tensor<?x10xf32>, tensor<10xf32>
    %logits = mp.add %p, %b : tensor<?x10xf32>, tensor<10xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    %accuracy = mp.accuracy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss, %accuracy : tensor<f32>, tensor<f32>
  }
  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0e-1, momentum = 0.9>, schedule = #mp.linear<to = 0.0>}
  }
  mp.data @train {label = #mp.column<"label.npy" as npy, ui8>, zero = #mp.column<"zero.npy" as npy, ui8>}
  mp.data @test {label = #mp.column<"label.npy" as npy, ui8>, zero = #mp.column<"zero.npy" as npy, ui8>}
}
