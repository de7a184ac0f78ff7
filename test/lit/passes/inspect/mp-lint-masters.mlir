// RUN: mp-opt %s -mp-lint=master-weights=false -verify-diagnostics -o /dev/null
// RUN: mp-opt %s -mp-lint 2>&1 >/dev/null | FileCheck %s --implicit-check-not="warning: "

// With mp-master-weights, 16-bit parameters have masters, those of 8 bits do not.
// CHECK: warning: parameter @eight is f8E4M3FN and has no f32 master
mp.variable @full : tensor<8xf32> = #mp.init<zeros>
// expected-warning@+1 {{parameter @half is f16 and has no f32 master: an update of less than 1/2048 of it is lost; run mp-master-weights, or round a bf16 parameter with stochastic_rounding [no-master-weight]}}
mp.variable @half : tensor<8xf16> = #mp.init<zeros>
mp.variable @brain : tensor<8xbf16> = #mp.init<zeros> // expected-warning {{parameter @brain is bf16 and has no f32 master: an update of less than 1/256 of it is lost}}
mp.variable @rounded : tensor<8xbf16> = #mp.init<zeros>
mp.variable @frozen : tensor<8xbf16> = #mp.init<zeros>
mp.variable buffer @statistic : tensor<8xbf16> = #mp.init<zeros>
mp.variable @eight : tensor<8xf8E4M3FN> = #mp.init<zeros> // expected-warning {{parameter @eight is f8E4M3FN and has no f32 master: an update of less than 1/16 of it is lost; declare it f32, and cast it where it is used}}

func.func @loss() -> tensor<f32> {
  %0 = mp.read @full : tensor<8xf32>
  %1 = mp.read @half : tensor<8xf16>
  %2 = mp.read @brain : tensor<8xbf16>
  %3 = mp.read @rounded : tensor<8xbf16>
  %4 = mp.read @frozen : tensor<8xbf16>
  %5 = mp.read @statistic : tensor<8xbf16>
  %6 = mp.read @eight : tensor<8xf8E4M3FN>
  %h = mp.cast %1 : tensor<8xf16> to tensor<8xf32>
  %b = mp.add %2, %3 : tensor<8xbf16>, tensor<8xbf16>
  %c = mp.add %b, %4 : tensor<8xbf16>, tensor<8xbf16>
  %d = mp.add %c, %5 : tensor<8xbf16>, tensor<8xbf16>
  %e = mp.cast %d : tensor<8xbf16> to tensor<8xf32>
  %q = mp.cast %6 : tensor<8xf8E4M3FN> to tensor<8xf32>
  %f = mp.add %0, %h : tensor<8xf32>, tensor<8xf32>
  %g = mp.add %e, %f : tensor<8xf32>, tensor<8xf32>
  %i = mp.add %g, %q : tensor<8xf32>, tensor<8xf32>
  %l = mp.mean %i dims[0] : tensor<8xf32>
  return %l : tensor<f32>
}
mp.scaler @scaler
mp.train @step of @loss scaler(@scaler) {
  mp.minimize result(0) {params = ["*", "!rounded", "!frozen"], optimizer = #mp.sgd}
  // expected-note@-1 {{trained here}}
  mp.minimize result(0) {params = ["rounded"], optimizer = #mp.sgd, stochastic_rounding}
}
