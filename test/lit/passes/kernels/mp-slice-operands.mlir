// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-slice-operands,canonicalize))' | FileCheck %s

// Each slice of a sum is a sum of slices; the row that is added to all rows is sliced along its own dimension, and the
// constant shrinks. Reshapes that add ones are looked through.
// CHECK-LABEL: @gates
// CHECK-DAG: %[[X:.*]] = mp.slice %arg0 offsets[0, 3, 4] sizes[8, 1, 2]
// CHECK-DAG: %[[Y:.*]] = mp.slice %arg1 offsets[4] sizes[2]
// CHECK-DAG: %[[Z:.*]] = mp.reshape %[[X]] : tensor<8x1x2xf32> to tensor<8x2xf32>
// CHECK-DAG: %[[S:.*]] = mp.add %[[Z]], %[[Y]] : tensor<8x2xf32>, tensor<2xf32>
// CHECK-DAG: %[[C:.*]] = mp.constant dense<2.000000e+00> : tensor<8x2xf32>
// CHECK: mp.mul %[[S]], %[[C]] : tensor<8x2xf32>, tensor<8x2xf32>
func.func @gates(%x: tensor<8x5x6xf32>, %y: tensor<6xf32>) -> tensor<8x2xf32> {
  %t = mp.slice %x offsets[0, 3, 0] sizes[-1, 1, 6] : tensor<8x5x6xf32>
  %r = mp.reshape %t : tensor<8x1x6xf32> to tensor<8x6xf32>
  %s = mp.add %r, %y : tensor<8x6xf32>, tensor<6xf32>
  %two = mp.constant dense<2.0> : tensor<8x6xf32>
  %m = mp.mul %s, %two : tensor<8x6xf32>, tensor<8x6xf32>
  %a = mp.slice %m offsets[0, 4] sizes[-1, 2] : tensor<8x6xf32>
  %e = mp.exp %a : tensor<8x2xf32>
  return %e : tensor<8x2xf32>
}

// A product reads the slice; the result is used as a whole; the slices overlap and are more than the result.
// CHECK-LABEL: @as_they_are
// CHECK-COUNT-3: mp.slice
func.func @as_they_are(%x: tensor<8x6xf32>, %w: tensor<2x8xf32>) -> (tensor<8x8xf32>, tensor<8x6xf32>, tensor<8x5xf32>) {
  %a = mp.exp %x : tensor<8x6xf32>
  %b = mp.slice %a offsets[0, 4] sizes[-1, 2] : tensor<8x6xf32>
  %c = mp.matmul %b, %w : tensor<8x2xf32>, tensor<2x8xf32>
  %d = mp.tanh %x : tensor<8x6xf32>
  %e = mp.slice %d offsets[0, 0] sizes[-1, 5] : tensor<8x6xf32>
  %f = mp.slice %d offsets[0, 1] sizes[-1, 5] : tensor<8x6xf32>
  %g = mp.mul %e, %f : tensor<8x5xf32>, tensor<8x5xf32>
  return %c, %d, %g : tensor<8x8xf32>, tensor<8x6xf32>, tensor<8x5xf32>
}
