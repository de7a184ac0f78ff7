// RUN: mp-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @same
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>)
func.func @same(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = mp.reshape %x : tensor<4x3xf32> to tensor<4x3xf32>
  %1 = mp.broadcast %0 : tensor<4x3xf32> to tensor<4x3xf32>
  %2 = mp.transpose %1 [0, 1] : tensor<4x3xf32>
  // CHECK-NEXT: return %[[X]]
  return %2 : tensor<4x3xf32>
}

// CHECK-LABEL: @reshape_of_reshape
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x3xf32>)
func.func @reshape_of_reshape(%x: tensor<?x4x3xf32>) -> tensor<?x2x6xf32> {
  // CHECK-NEXT: %[[R:.*]] = mp.reshape %[[X]] : tensor<?x4x3xf32> to tensor<?x2x6xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = mp.reshape %x : tensor<?x4x3xf32> to tensor<?x12xf32>
  %1 = mp.reshape %0 : tensor<?x12xf32> to tensor<?x2x6xf32>
  return %1 : tensor<?x2x6xf32>
}

// CHECK-LABEL: @there_and_back
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>)
func.func @there_and_back(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = mp.reshape %x : tensor<4x3xf32> to tensor<12xf32>
  %1 = mp.reshape %0 : tensor<12xf32> to tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// A dimension of one changes places, and no element does.
// CHECK-LABEL: @one
// CHECK-SAME: (%[[X:.*]]: tensor<4x1x3xf32>, %[[Y:.*]]: tensor<4x2x3x1xf32>)
func.func @one(%x: tensor<4x1x3xf32>, %y: tensor<4x2x3x1xf32>) -> (tensor<1x4x3xf32>, tensor<1x4x3x2xf32>) {
  // CHECK-DAG: %[[R:.*]] = mp.reshape %[[X]] : tensor<4x1x3xf32> to tensor<1x4x3xf32>
  // CHECK-DAG: %[[T:.*]] = mp.transpose %[[Y]] [3, 0, 2, 1]
  // CHECK: return %[[R]], %[[T]]
  %0 = mp.transpose %x [1, 0, 2] : tensor<4x1x3xf32>
  %1 = mp.transpose %y [3, 0, 2, 1] : tensor<4x2x3x1xf32>
  return %0, %1 : tensor<1x4x3xf32>, tensor<1x4x3x2xf32>
}

// The type of a square does not tell that elements have moved.
// CHECK-LABEL: @square
func.func @square(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK: mp.transpose
  %0 = mp.transpose %x [1, 0] : tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
