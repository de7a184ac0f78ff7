// RUN: mp-opt --mp-fuse --split-input-file %s | FileCheck %s -enable-var-scope

// No kernel has a tensor without elements.

// CHECK-LABEL: @elements
// CHECK-NOT: mp.kernel
// CHECK: %[[NONE:.*]] = mp.constant dense<> : tensor<0x3xf32>
// CHECK: return %[[NONE]]
func.func @elements(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %y = mp.exp %x : tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}

// -----

// CHECK-LABEL: @bias
// CHECK: mp.kernel
// CHECK-NOT: mp.linear
// CHECK: mp.broadcast
func.func @bias(%x: tensor<2x0xf32>, %w: tensor<3x0xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = mp.linear %x, %w, %b : tensor<2x0xf32>, tensor<3x0xf32>, tensor<3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @product
// CHECK: mp.constant dense<1.000000e+00> : tensor<3xf32>
func.func @product(%x: tensor<0x3xf32>) -> tensor<3xf32> {
  %y = mp.prod %x dims[0] : tensor<0x3xf32>
  return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: @constant
// CHECK-NOT: mp.kernel
// CHECK: mp.constant dense<> : tensor<0x3xf32>
func.func @constant() -> tensor<0x3xf32> {
  %c = mp.constant dense<1.0> : tensor<0x3xf32>
  return %c : tensor<0x3xf32>
}
