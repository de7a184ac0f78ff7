// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @constants
func.func @constants() {
  // CHECK: mp.constant dense<2.000000e+00> : tensor<f32>
  %0 = mp.constant dense<2.0> : tensor<f32>
  // CHECK: mp.constant dense<[true, false]> : tensor<2xi1>
  %1 = mp.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: mp.iota dim(1) : tensor<4x10xi32>
  %2 = mp.iota dim(1) : tensor<4x10xi32>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<4x3xf32>, %y: tensor<3xf32>, %n: tensor<?xui8>, %m: tensor<ui8>) {
  // CHECK: mp.add %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<3xf32>
  %0 = mp.add %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: mp.sub
  %1 = mp.sub %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: mp.mul
  %2 = mp.mul %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: mp.div %{{.*}}, %{{.*}} : tensor<?xui8>, tensor<ui8>
  %3 = mp.div %n, %m : tensor<?xui8>, tensor<ui8>
  // CHECK: mp.maximum
  %4 = mp.maximum %x, %y : tensor<4x3xf32>, tensor<3xf32>
  // CHECK: mp.minimum
  %5 = mp.minimum %n, %m : tensor<?xui8>, tensor<ui8>
  return
}

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<?x3xbf16>) {
  // CHECK: mp.neg %{{.*}} : tensor<?x3xbf16>
  %0 = mp.neg %x : tensor<?x3xbf16>
  // CHECK: mp.abs
  %1 = mp.abs %x : tensor<?x3xbf16>
  return
}

// Relations are printed by name, and the results are flags.
// CHECK-LABEL: @flags
func.func @flags(%x: tensor<4xf64>, %y: tensor<f64>) -> tensor<4xf64> {
  // CHECK: %[[GT:.*]] = mp.compare gt %{{.*}}, %{{.*}} : tensor<4xf64>, tensor<f64>
  %0 = mp.compare gt %x, %y : tensor<4xf64>, tensor<f64>
  // CHECK: %[[FINITE:.*]] = mp.is_finite %{{.*}} : tensor<4xf64>
  %1 = mp.is_finite %x : tensor<4xf64>
  // CHECK: mp.and %[[GT]], %[[FINITE]] : tensor<4xi1>, tensor<4xi1>
  %2 = mp.and %0, %1 : tensor<4xi1>, tensor<4xi1>
  // CHECK: mp.or
  %3 = mp.or %2, %0 : tensor<4xi1>, tensor<4xi1>
  // CHECK: mp.not %{{.*}} : tensor<4xi1>
  %4 = mp.not %3 : tensor<4xi1>
  // CHECK: mp.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf64>, tensor<f64>
  %5 = mp.select %4, %x, %y : tensor<4xi1>, tensor<4xf64>, tensor<f64>
  return %5 : tensor<4xf64>
}

// A size of one, zero and the batch broadcast as in NumPy.
// CHECK-LABEL: @broadcast
// CHECK-SAME: -> (tensor<0x4xf32>, tensor<?x4xf32>, tensor<2x3xf32>)
func.func @broadcast(%zero: tensor<0x1xf32>, %row: tensor<4xf32>, %batch: tensor<?x1xf32>,
                     %a: tensor<2x1xf32>, %b: tensor<1x3xf32>) -> (tensor<0x4xf32>, tensor<?x4xf32>, tensor<2x3xf32>) {
  %0 = mp.add %zero, %row : tensor<0x1xf32>, tensor<4xf32>
  %1 = mp.add %row, %batch : tensor<4xf32>, tensor<?x1xf32>
  %2 = mp.add %a, %b : tensor<2x1xf32>, tensor<1x3xf32>
  return %0, %1, %2 : tensor<0x4xf32>, tensor<?x4xf32>, tensor<2x3xf32>
}
