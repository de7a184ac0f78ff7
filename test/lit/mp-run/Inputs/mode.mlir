// Ops whose training differs from their evaluation.
mp.variable buffer @bn.running_mean : tensor<1xf32> = #mp.init<constant, value = 1.0>
mp.variable buffer @bn.running_var : tensor<1xf32> = #mp.init<constant, value = 4.0>
func.func @norm(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %m = mp.read @bn.running_mean : tensor<1xf32>
  %v = mp.read @bn.running_var : tensor<1xf32>
  %y, %mean, %rstd, %new_m, %new_v = mp.batch_norm %x, %m, %v {eps = 1.0e-12} : tensor<?x1xf32>, tensor<1xf32>, tensor<1xf32>
  mp.write @bn.running_mean, %new_m : tensor<1xf32>
  mp.write @bn.running_var, %new_v : tensor<1xf32>
  return %y : tensor<?x1xf32>
}
func.func @dropout(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %y = mp.dropout %x {p = 1.0} : tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
func.func @logits(%x: tensor<?x1xf32>) -> (tensor<?x1xf32> {mp.name = "logits"}) {
  %w = mp.constant dense<0.1> : tensor<1x1xf32>
  %y = mp.linear %x, %w : tensor<?x1xf32>, tensor<1x1xf32>
  return %y : tensor<?x1xf32>
}
