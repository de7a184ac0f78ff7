// RUN: mp-opt %s -mp-specialize=batch=4 | FileCheck %s
// RUN: mp-opt %s -mp-specialize=batch=4 -mp-specialize=batch=9 | FileCheck %s
// RUN: mp-opt %s -canonicalize -mp-specialize=batch=4 | FileCheck %s --check-prefix=FOLDED

// A reshape merges the batch with its neighbours, and splits it again. What
// follows has the rows of its operands, and so have the function's results.
// CHECK-LABEL: func.func @merged(
// CHECK-SAME: %{{.*}}: tensor<4x6x3xf32>, %{{.*}}: tensor<5x3xf32>) -> (tensor<24x5xf32>, tensor<4x6x5xf32>)
func.func @merged(%x: tensor<?x6x3xf32>, %w: tensor<5x3xf32>) -> (tensor<?x5xf32>, tensor<?x6x5xf32>) {
  // CHECK: mp.reshape %{{.*}} : tensor<4x6x3xf32> to tensor<24x3xf32>
  %0 = mp.reshape %x : tensor<?x6x3xf32> to tensor<?x3xf32>
  // CHECK: mp.linear %{{.*}}, %{{.*}} : tensor<24x3xf32>, tensor<5x3xf32>
  %1 = mp.linear %0, %w : tensor<?x3xf32>, tensor<5x3xf32>
  // CHECK: mp.autocast
  %2 = mp.autocast {
    %3 = mp.relu %1 : tensor<?x5xf32>
    mp.yield %3 : tensor<?x5xf32>
  } : tensor<?x5xf32>
  // CHECK: mp.reshape %{{.*}} : tensor<24x5xf32> to tensor<4x6x5xf32>
  %4 = mp.reshape %2 : tensor<?x5xf32> to tensor<?x6x5xf32>
  return %2, %4 : tensor<?x5xf32>, tensor<?x6x5xf32>
}

// Two samples make a row.
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: -> tensor<2x2x3xf32>
func.func @pairs(%x: tensor<?x3xf32>) -> tensor<?x2x3xf32> {
  %0 = mp.reshape %x : tensor<?x3xf32> to tensor<?x2x3xf32>
  return %0 : tensor<?x2x3xf32>
}

// Rows of a table are not rows of the indices, and a gradient has the rows of
// what it is the gradient of.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: -> (tensor<4x3xf32>, tensor<24x3xf32>, tensor<24x3xf32>, tensor<4x6x3xf32>)
func.func @rows(%x: tensor<?x6x3xf32>, %i: tensor<?xi32>)
    -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x6x3xf32>) {
  %0 = mp.reshape %x : tensor<?x6x3xf32> to tensor<?x3xf32>
  // CHECK: mp.gather %{{.*}}, %{{.*}} dim(0) : tensor<24x3xf32>, tensor<4xi32>
  %1 = mp.gather %0, %i dim(0) : tensor<?x3xf32>, tensor<?xi32>
  // CHECK: mp.scatter_add {{.*}} : tensor<4x3xf32>, tensor<4xi32>, tensor<24x3xf32>
  %2 = mp.scatter_add %1, %i into %0 dim(0) : tensor<?x3xf32>, tensor<?xi32>, tensor<?x3xf32>
  %3 = mp.sum %2 dims[0, 1] : tensor<?x3xf32>
  %4, %5 = mp.gradient %3 of %0, %x : tensor<f32>, tensor<?x3xf32>, tensor<?x6x3xf32>
  return %1, %2, %4, %5 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x6x3xf32>
}

// A call returns the rows that its function does.
// CHECK-LABEL: func.func @caller(
// CHECK-SAME: -> tensor<8xf32>
func.func @caller(%x: tensor<?x2xf32>) -> tensor<?xf32> {
  // CHECK: call @flat(%{{.*}}) : (tensor<4x2xf32>) -> tensor<8xf32>
  %0 = func.call @flat(%x) : (tensor<?x2xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @flat(%x: tensor<?x2xf32>) -> tensor<?xf32> {
  %0 = mp.reshape %x : tensor<?x2xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Reshapes fold into one, but not if rows of 3 would have to be rows of 2.
// FOLDED-LABEL: func.func @there_and_back(
// FOLDED-NEXT: mp.reshape %{{.*}} : tensor<4x3xf32> to tensor<12xf32>
// FOLDED-NEXT: %[[R:.*]] = mp.reshape %{{.*}} : tensor<12xf32> to tensor<6x2xf32>
// FOLDED-NEXT: return %{{.*}}, %[[R]]
func.func @there_and_back(%x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x2xf32>) {
  %0 = mp.reshape %x : tensor<?x3xf32> to tensor<?xf32>
  %1 = mp.reshape %0 : tensor<?xf32> to tensor<?x3xf32>
  %2 = mp.reshape %0 : tensor<?xf32> to tensor<?x2xf32>
  return %1, %2 : tensor<?x3xf32>, tensor<?x2xf32>
}
