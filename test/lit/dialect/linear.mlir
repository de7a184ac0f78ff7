// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @linear
func.func @linear(%x: tensor<?x4xf16>, %w: tensor<2x4xf16>, %b: tensor<2xf16>) -> tensor<?x2xf16> {
  // CHECK: mp.linear %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xf16>, tensor<2x4xf16>, tensor<2xf16>
  %0 = mp.linear %x, %w, %b : tensor<?x4xf16>, tensor<2x4xf16>, tensor<2xf16>
  // CHECK: mp.linear %{{.*}}, %{{[^,]*}} : tensor<?x4xf16>, tensor<2x4xf16>
  %1 = mp.linear %x, %w : tensor<?x4xf16>, tensor<2x4xf16>
  return %1 : tensor<?x2xf16>
}

// Any number of leading dimensions, none included.
// CHECK-LABEL: @ranks
func.func @ranks(%v: tensor<4xf32>, %x: tensor<5x6x4xf32>, %w: tensor<2x4xf32>) -> (tensor<2xf32>, tensor<5x6x2xf32>) {
  // CHECK: mp.linear %{{.*}} : tensor<4xf32>, tensor<2x4xf32>
  %0 = mp.linear %v, %w : tensor<4xf32>, tensor<2x4xf32>
  // CHECK: mp.linear %{{.*}} : tensor<5x6x4xf32>, tensor<2x4xf32>
  %1 = mp.linear %x, %w : tensor<5x6x4xf32>, tensor<2x4xf32>
  return %0, %1 : tensor<2xf32>, tensor<5x6x2xf32>
}

// CHECK-LABEL: @matmul
func.func @matmul(%a: tensor<2x3x4xf32>, %b: tensor<5x4xf32>, %c: tensor<7x3x4xf32>) -> (tensor<2x3x5xf32>, tensor<7x4x5xf32>) {
  // CHECK: mp.matmul %{{.*}}, %{{.*}} transpose_b : tensor<2x3x4xf32>, tensor<5x4xf32>
  %0 = mp.matmul %a, %b transpose_b : tensor<2x3x4xf32>, tensor<5x4xf32>
  // CHECK: mp.matmul %{{.*}}, %{{.*}} transpose_a transpose_b
  %d = mp.constant dense<0.0> : tensor<7x5x3xf32>
  %1 = mp.matmul %c, %d transpose_a transpose_b : tensor<7x3x4xf32>, tensor<7x5x3xf32>
  return %0, %1 : tensor<2x3x5xf32>, tensor<7x4x5xf32>
}

// CHECK-LABEL: @unrounded
func.func @unrounded(%x: tensor<3x4xbf16>, %w: tensor<2x4xbf16>, %e: tensor<3x4xf8E4M3FN>, %g: tensor<4x2xf8E5M2>) {
  // CHECK: mp.linear %{{.*}}, %{{.*}} out_dtype(f32) : tensor<3x4xbf16>, tensor<2x4xbf16>
  %0 = mp.linear %x, %w out_dtype(f32) : tensor<3x4xbf16>, tensor<2x4xbf16>
  // CHECK: mp.matmul %{{.*}}, %{{.*}} : tensor<3x4xf8E4M3FN>, tensor<4x2xf8E5M2>
  %1 = mp.matmul %e, %g : tensor<3x4xf8E4M3FN>, tensor<4x2xf8E5M2>
  // Sums are f32 in both.
  %2 = mp.matmul %0, %1 transpose_a : tensor<3x2xf32>, tensor<3x2xf32>
  return
}
