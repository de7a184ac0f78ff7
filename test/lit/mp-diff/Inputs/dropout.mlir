mp.variable @w : tensor<16x64xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x64xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<16x64xf32>
  %d = mp.dropout %x {p = 0.3} : tensor<?x64xf32>
  %h = mp.linear %d, %w : tensor<?x64xf32>, tensor<16x64xf32>
  %r = mp.uniform : tensor<16xf32>
  %n = mp.add %h, %r : tensor<?x16xf32>, tensor<16xf32>
  %e = mp.dropout %n {p = 0.5} : tensor<?x16xf32>
  %l = mp.mean %e dims[0, 1] {mp.autocast = "f32"} : tensor<?x16xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0e-3>}
}
