// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<?x3xbf16>) {
  // CHECK: mp.exp %{{.*}} : tensor<?x3xbf16>
  %0 = mp.exp %x : tensor<?x3xbf16>
  // CHECK: mp.expm1 %{{.*}} : tensor<?x3xbf16>
  %1 = mp.expm1 %x : tensor<?x3xbf16>
  // CHECK: mp.log %{{.*}} : tensor<?x3xbf16>
  %2 = mp.log %x : tensor<?x3xbf16>
  // CHECK: mp.log1p %{{.*}} : tensor<?x3xbf16>
  %3 = mp.log1p %x : tensor<?x3xbf16>
  // CHECK: mp.erf %{{.*}} : tensor<?x3xbf16>
  %4 = mp.erf %x : tensor<?x3xbf16>
  // CHECK: mp.sqrt %{{.*}} : tensor<?x3xbf16>
  %5 = mp.sqrt %x : tensor<?x3xbf16>
  // CHECK: mp.rsqrt %{{.*}} : tensor<?x3xbf16>
  %6 = mp.rsqrt %x : tensor<?x3xbf16>
  // CHECK: mp.reciprocal %{{.*}} : tensor<?x3xbf16>
  %7 = mp.reciprocal %x : tensor<?x3xbf16>
  // CHECK: mp.sin %{{.*}} : tensor<?x3xbf16>
  %8 = mp.sin %x : tensor<?x3xbf16>
  // CHECK: mp.cos %{{.*}} : tensor<?x3xbf16>
  %9 = mp.cos %x : tensor<?x3xbf16>
  // CHECK: mp.sign %{{.*}} : tensor<?x3xbf16>
  %10 = mp.sign %x : tensor<?x3xbf16>
  // CHECK: mp.floor %{{.*}} : tensor<?x3xbf16>
  %11 = mp.floor %x : tensor<?x3xbf16>
  return
}

// Shapes broadcast as with any op of two operands.
// CHECK-LABEL: @pow
// CHECK-SAME: -> (tensor<4x3xf32>, tensor<0x4xf16>)
func.func @pow(%x: tensor<4x1xf32>, %y: tensor<3xf32>, %z: tensor<0x1xf16>, %w: tensor<4xf16>) -> (tensor<4x3xf32>, tensor<0x4xf16>) {
  // CHECK: mp.pow %{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<3xf32>
  %0 = mp.pow %x, %y : tensor<4x1xf32>, tensor<3xf32>
  // CHECK: mp.pow %{{.*}}, %{{.*}} : tensor<0x1xf16>, tensor<4xf16>
  %1 = mp.pow %z, %w : tensor<0x1xf16>, tensor<4xf16>
  return %0, %1 : tensor<4x3xf32>, tensor<0x4xf16>
}

// Either bound may be left out, and they need not be in order.
// CHECK-LABEL: @clamp
func.func @clamp(%x: tensor<4xf32>) {
  // CHECK: mp.clamp %{{.*}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<4xf32>
  %0 = mp.clamp %x {min = 0.0, max = 6.0} : tensor<4xf32>
  // CHECK: mp.clamp %{{.*}} {min = 0.000000e+00 : f64} : tensor<4xf32>
  %1 = mp.clamp %x {min = 0.0} : tensor<4xf32>
  // CHECK: mp.clamp %{{.*}} {max = 0xFFF0000000000000 : f64} : tensor<4xf32>
  %2 = mp.clamp %x {max = 0xFFF0000000000000 : f64} : tensor<4xf32>
  // CHECK: mp.clamp %{{.*}} {max = 1.000000e+00 : f64, min = 2.000000e+00 : f64} : tensor<4xf32>
  %3 = mp.clamp %x {max = 1.0, min = 2.0} : tensor<4xf32>
  return
}
