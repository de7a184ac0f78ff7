// RUN: mp-opt %s -mp-lint -verify-diagnostics -o /dev/null

func.func @exp(%x: tensor<8x4xf32>, %h: tensor<4xf16>, %y: tensor<f32>) {
  // expected-warning@+1 {{'mp.exp' of numbers up to 3.40282e+38 overflows f32, which ends at 3.40282e+38; bound them before, as mp.clamp does [exp-overflow]}}
  %0 = mp.exp %x : tensor<8x4xf32>
  // expected-warning@+1 {{'mp.exp' of numbers up to 65504 overflows f16, which ends at 65504; bound them before, as mp.clamp does [exp-overflow]}}
  %1 = mp.exp %h : tensor<4xf16>
  %2 = mp.expm1 %x : tensor<8x4xf32> // expected-warning {{'mp.expm1' of numbers up to 3.40282e+38 overflows f32}}
  %3 = mp.pow %x, %y : tensor<8x4xf32>, tensor<f32> // expected-warning {{'mp.pow' of numbers up to 3.40282e+38 overflows f32}}
  return
}

// These numbers are just small enough: exp(11) is 59874, exp(88) is 1.7e38.
func.func @clamped(%x: tensor<4xf32>, %h: tensor<4xf16>) {
  %0 = mp.clamp %x {max = 88.0} : tensor<4xf32>
  %1 = mp.exp %0 : tensor<4xf32>
  %2 = mp.clamp %x {max = 89.0} : tensor<4xf32>
  %3 = mp.exp %2 : tensor<4xf32> // expected-warning {{[exp-overflow]}}
  %4 = mp.clamp %h {max = 11.0} : tensor<4xf16>
  %5 = mp.exp %4 : tensor<4xf16>
  %6 = mp.clamp %h {max = 12.0} : tensor<4xf16>
  %7 = mp.exp %6 : tensor<4xf16> // expected-warning {{[exp-overflow]}}
  return
}

// Bodies with an exponential whose results are bounded, or not larger than their operands.
func.func @activations(%x: tensor<4xf32>, %pixel: tensor<4xui8>) {
  %0 = mp.sigmoid %x : tensor<4xf32>
  %1 = mp.tanh %x : tensor<4xf32>
  %2 = mp.erf %x : tensor<4xf32>
  %3 = mp.sin %x : tensor<4xf32>
  %4 = mp.sign %x : tensor<4xf32>
  %5 = mp.elu %x : tensor<4xf32>
  %6 = mp.silu %x : tensor<4xf32>
  %7 = mp.softplus %x : tensor<4xf32>
  %8 = mp.gelu %x : tensor<4xf32>
  %10 = mp.exp %0 : tensor<4xf32>
  %11 = mp.exp %1 : tensor<4xf32>
  %12 = mp.exp %2 : tensor<4xf32>
  %13 = mp.exp %3 : tensor<4xf32>
  %14 = mp.exp %4 : tensor<4xf32>
  // Nothing bounds large results of elu and softplus.
  %15 = mp.exp %5 : tensor<4xf32> // expected-warning {{[exp-overflow]}}
  %16 = mp.exp %7 : tensor<4xf32> // expected-warning {{[exp-overflow]}}
  %f = mp.cast %pixel : tensor<4xui8> to tensor<4xf32>
  %17 = mp.exp %f : tensor<4xf32> // expected-warning {{'mp.exp' of numbers up to 255 overflows f32}}
  %white = mp.constant dense<255.0> : tensor<f32>
  %unit = mp.div %f, %white : tensor<4xf32>, tensor<f32>
  %18 = mp.exp %unit : tensor<4xf32>
  %19 = mp.mul %x, %x : tensor<4xf32>, tensor<4xf32>
  %20 = mp.neg %19 : tensor<4xf32>
  %21 = mp.exp %20 : tensor<4xf32>
  %22 = mp.uniform : tensor<4xf32>
  %23 = mp.exp %22 : tensor<4xf32>
  return
}

// The power is of a probability.
func.func @focal(%x: tensor<8x4xf32>, %gamma: tensor<f32>) {
  %p = mp.softmax %x dim(1) : tensor<8x4xf32>
  %c = mp.clamp %gamma {min = 0.0} : tensor<f32>
  %0 = mp.pow %p, %c : tensor<8x4xf32>, tensor<f32>
  return
}

// A region has a precision of its own, in which ops run in the types of their operands.
func.func @region(%x: tensor<4xf32>, %h: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf32>) {
  %e, %f = mp.autocast enabled(false) {
    %0 = mp.exp %h : tensor<4xf16> // expected-warning {{'mp.exp' of numbers up to 65504 overflows f16}}
    %1 = mp.tanh %x : tensor<4xf32>
    %2 = mp.exp %1 : tensor<4xf32>
    mp.yield %0, %2 : tensor<4xf16>, tensor<4xf32>
  } : tensor<4xf16>, tensor<4xf32>
  return %e, %f : tensor<4xf16>, tensor<4xf32>
}
