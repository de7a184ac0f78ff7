mp.policy @inside extends "torch" {boundary = ["class:normalization", "mp.softmax"]}
mp.policy @low extends "torch" {allow = ["class:normalization", "mp.softmax"]}
mp.variable @w1 : tensor<256x256xf32> = #mp.init<kaiming_uniform>
mp.variable @w2 : tensor<256x256xf32> = #mp.init<kaiming_uniform>
mp.variable @w3 : tensor<256x256xf32> = #mp.init<kaiming_uniform>
mp.variable @g : tensor<256xf32> = #mp.init<ones>
func.func @loss(%x: tensor<?x256xf32>) -> tensor<f32> {
  %w1 = mp.read @w1 : tensor<256x256xf32>
  %w2 = mp.read @w2 : tensor<256x256xf32>
  %w3 = mp.read @w3 : tensor<256x256xf32>
  %g = mp.read @g : tensor<256xf32>
  %h = mp.linear %x, %w1 : tensor<?x256xf32>, tensor<256x256xf32>
  %n, %m, %r = mp.layer_norm %h weight(%g : tensor<256xf32>) : tensor<?x256xf32>
  %y = mp.linear %n, %w2 : tensor<?x256xf32>, tensor<256x256xf32>
  %s = mp.softmax %y dim(1) : tensor<?x256xf32>
  %z = mp.linear %s, %w3 : tensor<?x256xf32>, tensor<256x256xf32>
  %l = mp.mean %z dims[0, 1] : tensor<?x256xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = bf16>) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-2>}
}
