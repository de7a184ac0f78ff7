// RUN: mp-opt %s -verify-diagnostics -mp-autodiff=function=loss

// Casts come before gradients: a region that still exists has none.
func.func @loss(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{mp-autocast has to take the region away first}}
  %y = mp.autocast dtype(f16) {
    %e = mp.exp %x : tensor<f32>
    mp.yield %e : tensor<f32>
  } : tensor<f32>
  return %y : tensor<f32>
}
