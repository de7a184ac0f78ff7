// RUN: mp-opt %s | mp-opt | FileCheck %s

// CHECK-LABEL: @reductions
// CHECK-SAME: -> (tensor<3xf32>, tensor<4x1xf32>, tensor<f32>, tensor<3xf32>, tensor<i1>)
func.func @reductions(%x: tensor<4x3xf32>, %f: tensor<4xi1>)
    -> (tensor<3xf32>, tensor<4x1xf32>, tensor<f32>, tensor<3xf32>, tensor<i1>) {
  // CHECK: mp.sum %{{.*}} dims[0] : tensor<4x3xf32>
  %0 = mp.sum %x dims[0] : tensor<4x3xf32>
  // CHECK: mp.max %{{.*}} dims[1] keepdim : tensor<4x3xf32>
  %1 = mp.max %x dims[1] keepdim : tensor<4x3xf32>
  // CHECK: mp.min %{{.*}} dims[0, 1] : tensor<4x3xf32>
  %2 = mp.min %x dims[0, 1] : tensor<4x3xf32>
  // CHECK: mp.mean %{{.*}} dims[0] : tensor<4x3xf32>
  %3 = mp.mean %x dims[0] : tensor<4x3xf32>
  // CHECK: mp.any %{{.*}} dims[0] : tensor<4xi1>
  %4 = mp.any %f dims[0] : tensor<4xi1>
  return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<4x1xf32>, tensor<f32>, tensor<3xf32>, tensor<i1>
}

// Over the batch, over nothing, of a number, of integers, of no element.
// CHECK-LABEL: @corners
// CHECK-SAME: -> (tensor<3xf32>, tensor<?xf32>, tensor<f16>, tensor<ui8>, tensor<0xf32>)
func.func @corners(%x: tensor<?x3xf32>, %h: tensor<f16>, %n: tensor<5xui8>, %z: tensor<4x0xf32>)
    -> (tensor<3xf32>, tensor<?xf32>, tensor<f16>, tensor<ui8>, tensor<0xf32>) {
  %0 = mp.sum %x dims[0] : tensor<?x3xf32>
  %1 = mp.sum %x dims[1] : tensor<?x3xf32>
  // CHECK: mp.sum %{{.*}} dims[] : tensor<f16>
  %2 = mp.sum %h dims[] : tensor<f16>
  %3 = mp.max %n dims[0] : tensor<5xui8>
  %4 = mp.max %z dims[0] : tensor<4x0xf32>
  return %0, %1, %2, %3, %4 : tensor<3xf32>, tensor<?xf32>, tensor<f16>, tensor<ui8>, tensor<0xf32>
}
