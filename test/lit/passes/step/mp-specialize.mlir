// RUN: mp-opt %s -mp-specialize=batch=8 | FileCheck %s
// RUN: mp-opt %s -mp-specialize=batch=8 -mp-specialize=batch=9 | FileCheck %s
// RUN: mp-opt %s -mp-specialize=batch=1 | FileCheck %s --check-prefix=ONE

// Every leading '?' is the batch, in every type; a second run finds none.
// CHECK-LABEL: func.func @batch(
// CHECK-SAME: %{{.*}}: tensor<8x28x28xui8> {mp.name = "image"}, %{{.*}}: tensor<4xf32>) -> (tensor<8x784xf32>, tensor<8xi1>)
// ONE-LABEL: func.func @batch(
// ONE-SAME: tensor<1x28x28xui8>
func.func @batch(%x: tensor<?x28x28xui8> {mp.name = "image"}, %fixed: tensor<4xf32>) -> (tensor<?x784xf32>, tensor<?xi1>) {
  // CHECK: mp.cast %{{.*}} : tensor<8x28x28xui8> to tensor<8x28x28xf32>
  %0 = mp.cast %x : tensor<?x28x28xui8> to tensor<?x28x28xf32>
  // CHECK: mp.reshape %{{.*}} : tensor<8x28x28xf32> to tensor<8x784xf32>
  %1 = mp.reshape %0 : tensor<?x28x28xf32> to tensor<?x784xf32>
  // CHECK: mp.max %{{.*}} dims[1] : tensor<8x784xf32>
  %2 = mp.max %1 dims[1] : tensor<?x784xf32>
  // CHECK: mp.is_finite %{{.*}} : tensor<8xf32>
  %3 = mp.is_finite %2 : tensor<?xf32>
  return %1, %3 : tensor<?x784xf32>, tensor<?xi1>
}

// CHECK: func.func private @elsewhere(tensor<8xf32>) -> tensor<8x2xf32>
func.func private @elsewhere(tensor<?xf32>) -> tensor<?x2xf32>
