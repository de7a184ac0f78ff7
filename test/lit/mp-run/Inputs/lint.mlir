mp.variable @w : tensor<4x8xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x8xf32>
  %y = mp.linear %x, %w : tensor<?x8xf32>, tensor<4x8xf32>
  %e = mp.exp %y : tensor<?x4xf32>
  %s = mp.sum %e dims[1] : tensor<?x4xf32>
  %l = mp.mean %s dims[0] : tensor<?xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = f16>) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>}
}
