// The next token by the one before it: a table of logits.
module @bigrams {
  mp.variable @table : tensor<32x32xf32> = #mp.init<zeros>
  func.func @loss(%x: tensor<?x8xui16> {mp.name = "x"}, %y: tensor<?x8xui16> {mp.name = "y"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %table = mp.read @table : tensor<32x32xf32>
    %logits = mp.gather %table, %x dim(0) : tensor<32x32xf32>, tensor<?x8xui16>
    %classes = mp.transpose %logits [0, 2, 1] : tensor<?x8x32xf32>
    %loss = mp.cross_entropy %classes, %y : tensor<?x32x8xf32>, tensor<?x8xui16>
    return %loss : tensor<f32>
  }
  mp.train @step of @loss {
    mp.minimize result(0) {optimizer = #mp.adamw<lr = 1.0e-1>}
  }
  mp.data @train {
    x = #mp.column<"train.bin" as tokens, ui16 shape[8] window <tokens = 9, stride = 1>>,
    y = #mp.column<"train.bin" as tokens, ui16 shape[8] window <tokens = 9, stride = 1, offset = 1>>}
  mp.data @test {
    x = #mp.column<"val.bin" as tokens, ui16 shape[8] window <tokens = 9, stride = 8>>,
    y = #mp.column<"val.bin" as tokens, ui16 shape[8] window <tokens = 9, stride = 8, offset = 1>>}
}
