// RUN: mp-opt %s -mp-lint -verify-diagnostics -split-input-file -o /dev/null
// RUN: mp-opt %s -mp-lint=batch=4 -verify-diagnostics -split-input-file -o /dev/null

// Ops that stop a gradient, and the same beside an open path.
mp.variable @stopped : tensor<8xf32> = #mp.init<zeros>
mp.variable @counted : tensor<8xf32> = #mp.init<zeros>
mp.variable @rounded : tensor<8xf32> = #mp.init<zeros>
mp.variable @drawn : tensor<8xf32> = #mp.init<zeros>
mp.variable @twice : tensor<8xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %zero = mp.constant dense<0.0> : tensor<f32>
  // expected-warning@+1 {{parameter @stopped is trained, but no gradient reaches it from result 0 of @loss; let one pass, or take the parameter out of params [cut-gradient]}}
  %0 = mp.read @stopped : tensor<8xf32>
  %a = mp.relu %0 : tensor<8xf32>
  %1 = mp.stop_gradient %a : tensor<8xf32> // expected-note {{'mp.stop_gradient' lets none pass: it stops gradients}}
  %2 = mp.read @counted : tensor<8xf32> // expected-warning {{parameter @counted is trained}}
  %c = mp.compare gt %2, %zero : tensor<8xf32>, tensor<f32> // expected-note {{'mp.compare' lets none pass: the result is a flag}}
  %3 = mp.select %c, %x, %zero : tensor<8xi1>, tensor<?x8xf32>, tensor<f32>
  %4 = mp.read @rounded : tensor<8xf32> // expected-warning {{parameter @rounded is trained}}
  %5 = mp.floor %4 : tensor<8xf32> // expected-note {{'mp.floor' lets none pass: its derivative is zero}}
  %6 = mp.read @drawn : tensor<8xf32> // expected-warning {{parameter @drawn is trained}}
  %7 = mp.bernoulli %6 : tensor<8xf32> // expected-note {{'mp.bernoulli' lets none pass: its result is zero or one}}
  %8 = mp.read @twice : tensor<8xf32>
  %9 = mp.stop_gradient %8 : tensor<8xf32>
  %10 = mp.mul %8, %9 : tensor<8xf32>, tensor<8xf32>
  %11 = mp.add %1, %3 : tensor<8xf32>, tensor<?x8xf32>
  %12 = mp.add %11, %5 : tensor<?x8xf32>, tensor<8xf32>
  %13 = mp.add %12, %7 : tensor<?x8xf32>, tensor<8xf32>
  %14 = mp.add %13, %10 : tensor<?x8xf32>, tensor<8xf32>
  %15 = mp.dropout %14 : tensor<?x8xf32>
  %l = mp.mean %15 dims[0, 1] : tensor<?x8xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }

// -----

// Parameters unused, used for another loss, or not read; untrained ones give no finding.
mp.variable @idle : tensor<8xf32> = #mp.init<zeros>
mp.variable @other : tensor<8xf32> = #mp.init<zeros>
mp.variable @w : tensor<8xf32> = #mp.init<zeros>
mp.variable @unread : tensor<8xf32> = #mp.init<zeros> // expected-warning {{parameter @unread is trained, but nothing reads it; read it, or take it away [cut-gradient]}}
mp.variable @frozen : tensor<8xf32> = #mp.init<zeros>
mp.variable @evaluated : tensor<8xf32> = #mp.init<zeros>
mp.variable buffer @statistic : tensor<8xf32> = #mp.init<zeros>
func.func @loss() -> (tensor<f32>, tensor<f32>) {
  %0 = mp.read @idle : tensor<8xf32> // expected-warning {{no gradient reaches it from result 0 of @loss; use what is read in that result, or take the parameter out of params [cut-gradient]}}
  %unused = mp.relu %0 : tensor<8xf32>
  %f = mp.read @frozen : tensor<8xf32>
  %1 = mp.read @other : tensor<8xf32> // expected-warning {{parameter @other is trained, but no gradient reaches it from result 0}}
  %2 = mp.read @w : tensor<8xf32>
  %l = mp.mean %2 dims[0] : tensor<8xf32>
  %m = mp.mean %1 dims[0] : tensor<8xf32>
  return %l, %m : tensor<f32>, tensor<f32>
}
func.func @evaluate() -> tensor<8xf32> {
  %0 = mp.read @evaluated : tensor<8xf32>
  return %0 : tensor<8xf32>
}
mp.train @step of @loss { mp.minimize result(0) {params = ["*", "!frozen"], optimizer = #mp.sgd} } // expected-note {{trained here}}

// -----

// A gradient penalty, and a cast that autocast makes, pass gradients.
mp.variable @w : tensor<1x8xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<4x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<1x8xf32>
  %y = mp.linear %x, %w : tensor<4x8xf32>, tensor<1x8xf32>
  %t = mp.tanh %y : tensor<4x1xf32>
  %s = mp.sum %t dims[0, 1] : tensor<4x1xf32>
  %g = mp.gradient %s of %x : tensor<f32>, tensor<4x8xf32>
  %n = mp.mul %g, %g : tensor<4x8xf32>, tensor<4x8xf32>
  %l = mp.mean %n dims[0, 1] : tensor<4x8xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = bf16>) { mp.minimize result(0) {optimizer = #mp.sgd} }
