// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autodiff=function=loss -canonicalize | FileCheck %s

// A table of words that is also the last layer: the gradients of its rows are
// added to the gradient of the product, in one pass.
// CHECK-LABEL: func.func @loss.gradient(
// CHECK: %[[PRODUCT:.*]] = mp.matmul %{{.*}} transpose_a
// CHECK: %[[TABLE:.*]] = mp.scatter_add %{{.*}}, %{{.*}} into %[[PRODUCT]] dim(0)
// CHECK-NOT: mp.add
// CHECK: return %[[TABLE]]
func.func @loss(%table: tensor<10x6xf32>, %words: tensor<?xi32>) -> tensor<f32> {
  %0 = mp.gather %table, %words dim(0) : tensor<10x6xf32>, tensor<?xi32>
  %1 = mp.linear %0, %table : tensor<?x6xf32>, tensor<10x6xf32>
  %2 = mp.sum %1 dims[0, 1] : tensor<?x10xf32>
  return %2 : tensor<f32>
}
