// RUN: mp-opt %s -mp-lint -verify-diagnostics -o /dev/null

// A region that stops the gradient is reported where it begins: its ops, and not its
// precision, stop it. Beside an open path around it there is no finding.
mp.variable @w : tensor<8x8xf32> = #mp.init<kaiming_uniform>
mp.variable @v : tensor<8x8xf32> = #mp.init<kaiming_uniform>
mp.variable @u : tensor<8x8xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  // expected-warning@+1 {{parameter @w is trained, but no gradient reaches it from result 0 of @loss; let one pass, or take the parameter out of params [cut-gradient]}}
  %w = mp.read @w : tensor<8x8xf32>
  %v = mp.read @v : tensor<8x8xf32>
  %u = mp.read @u : tensor<8x8xf32>
  // expected-note@+1 {{in this region}}
  %y, %z = mp.autocast dtype(bf16) {
    %1 = mp.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
    // expected-note@+1 {{'mp.stop_gradient' lets none pass: it stops gradients}}
    %2 = mp.stop_gradient %1 : tensor<?x8xf32>
    %3 = mp.linear %2, %v : tensor<?x8xf32>, tensor<8x8xf32>
    %4 = mp.linear %x, %u : tensor<?x8xf32>, tensor<8x8xf32>
    %5 = mp.stop_gradient %4 : tensor<?x8xf32>
    %6 = mp.mul %5, %4 : tensor<?x8xf32>, tensor<?x8xf32>
    mp.yield %3, %6 : tensor<?x8xf32>, tensor<?x8xf32>
  } : tensor<?x8xf32>, tensor<?x8xf32>
  %s = mp.add %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
  %l = mp.mean %s dims[0, 1] : tensor<?x8xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
