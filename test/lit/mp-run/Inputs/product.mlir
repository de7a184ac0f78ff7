// Small products, forward and backward.
module @product {
  mp.variable @weight : tensor<3x2xf32> = #mp.init<zeros>
  func.func @loss(%x: tensor<?x2xf32> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %weight = mp.read @weight : tensor<3x2xf32>
    %logits = mp.linear %x, %weight : tensor<?x2xf32>, tensor<3x2xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x3xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }
  mp.train @step of @loss {
    mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-3>}
  }
}
