// RUN: mp-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @over_nothing
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @over_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = mp.sum %x dims[] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @product_over_nothing
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @product_over_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = mp.prod %x dims[] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A sum over one element is a reshape.
// CHECK-LABEL: @over_one
func.func @over_one(%x: tensor<4x1xf32>) -> tensor<4xf32> {
  // CHECK: mp.sum
  %0 = mp.sum %x dims[1] : tensor<4x1xf32>
  return %0 : tensor<4xf32>
}
