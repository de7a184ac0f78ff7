// RUN: mp-opt %s -mp-specialize=batch=8 | FileCheck %s

// The batch goes through moves along other dimensions, and comes from indices.
// CHECK-LABEL: @batch
func.func @batch(%x: tensor<?x10xf32>, %t: tensor<50x4xf32>, %i: tensor<?x3xi32>, %y: tensor<?xui8>, %j: tensor<2xi64>)
    -> (tensor<?x18xf32>, tensor<?x3x4xf32>, tensor<50x4xf32>, tensor<?x2xf32>, tensor<?x5xf32>) {
  // CHECK: mp.slice %{{.*}} offsets[0, 2] sizes[-1, 4] : tensor<8x10xf32>
  %0 = mp.slice %x offsets[0, 2] sizes[-1, 4] : tensor<?x10xf32>
  // CHECK: mp.pad %{{.*}} low[0, 1] high[0, 3] : tensor<8x4xf32>
  %1 = mp.pad %0 low[0, 1] high[0, 3] : tensor<?x4xf32>
  // CHECK: mp.concat %{{.*}}, %{{.*}} dim(1) : tensor<8x10xf32>, tensor<8x8xf32>
  %2 = mp.concat %x, %1 dim(1) : tensor<?x10xf32>, tensor<?x8xf32>
  // CHECK: mp.gather %{{.*}}, %{{.*}} dim(0) : tensor<50x4xf32>, tensor<8x3xi32>
  %3 = mp.gather %t, %i dim(0) : tensor<50x4xf32>, tensor<?x3xi32>
  // CHECK: mp.scatter_add %{{.*}}, %{{.*}} dim(0) size(50) : tensor<8x3x4xf32>, tensor<8x3xi32>
  %4 = mp.scatter_add %3, %i dim(0) size(50) : tensor<?x3x4xf32>, tensor<?x3xi32>
  // CHECK: mp.gather %{{.*}}, %{{.*}} dim(1) : tensor<8x10xf32>, tensor<2xi64>
  %5 = mp.gather %x, %j dim(1) : tensor<?x10xf32>, tensor<2xi64>
  // CHECK: mp.one_hot %{{.*}} classes(5) as f32 : tensor<8xui8>
  %6 = mp.one_hot %y classes(5) as f32 : tensor<?xui8>
  return %2, %3, %4, %5, %6 : tensor<?x18xf32>, tensor<?x3x4xf32>, tensor<50x4xf32>, tensor<?x2xf32>, tensor<?x5xf32>
}
