// Names and places with escapes of a terminal and a change of the direction of writing.
module @"m\1B[31mred\E2\80\AE" {
  mp.variable @"w\1B[31mred\E2\80\AE" : tensor<10x784xf32> = #mp.init<kaiming_uniform>
  func.func @"loss\1B[31m"(%x: tensor<?x784xui8> {mp.name = "x\1B[31m"}, %label: tensor<?xui8> {mp.name = "label\1B[31m"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy\1B[31m\E2\80\AE"}) {
    %f = mp.cast %x : tensor<?x784xui8> to tensor<?x784xf32>
    %w = mp.read @"w\1B[31mred\E2\80\AE" : tensor<10x784xf32> loc("f\1B[31m.mlir":1:1)
    %l = mp.linear %f, %w : tensor<?x784xf32>, tensor<10x784xf32> loc("f\1B[31m.mlir":1:2)
    %loss = mp.cross_entropy %l, %label : tensor<?x10xf32>, tensor<?xui8> loc("f\1B[31m.mlir":1:3)
    %right = mp.accuracy %l, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss, %right : tensor<f32>, tensor<f32>
  }
  mp.train @"step\1B[31m" of @"loss\1B[31m" {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0e-5>}
  }
  mp.data @train {"x\1B[31m" = #mp.column<"x.npy" as npy, ui8>, "label\1B[31m" = #mp.column<"label.npy" as npy, ui8>}
  mp.data @test {"x\1B[31m" = #mp.column<"x.npy" as npy, ui8>, "label\1B[31m" = #mp.column<"label.npy" as npy, ui8>}
}
