// RUN: not mp-opt %s -mp-autodiff=function=loss 2>&1 | FileCheck %s --check-prefix=STREAM
// RUN: not mp-opt %s -pass-pipeline="builtin.module(func.func(mp-fuse,mp-lower-kernels))" 2>&1 | FileCheck %s --check-prefix=FUSE
// RUN: not mp-opt %s -pass-pipeline="builtin.module(mp-number-streams,func.func(mp-fuse,mp-lower-kernels))" 2>&1 | FileCheck %s --check-prefix=KEY

// STREAM: [[@LINE+5]]:{{.*}}error: 'mp.dropout' op has no stream from which backward could draw again: run mp-number-streams before mp-autodiff
// FUSE: error: 'mp.dropout' op has no stream: run mp-number-streams and mp-random-keys before mp-fuse
// KEY: error: 'mp.dropout' op has no key: run mp-number-streams and mp-random-keys before mp-fuse
func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
  // Backward must draw the same numbers as forward.
  %0 = mp.dropout %x : tensor<4xf32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}
