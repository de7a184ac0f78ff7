// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

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

// Reductions over the batch, over nothing, of a number, of integers, of no element.
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

// CHECK-LABEL: @products
// CHECK-SAME: -> (tensor<4xf16>, tensor<i32>, tensor<4x3xf16>)
func.func @products(%x: tensor<4x3xf16>, %n: tensor<5xi32>) -> (tensor<4xf16>, tensor<i32>, tensor<4x3xf16>) {
  // CHECK: mp.prod %{{.*}} dims[1] : tensor<4x3xf16>
  %0 = mp.prod %x dims[1] : tensor<4x3xf16>
  // CHECK: mp.prod %{{.*}} dims[0] : tensor<5xi32>
  %1 = mp.prod %n dims[0] : tensor<5xi32>
  // CHECK: mp.prod_backward %{{.*}}, %{{.*}} dims[1] : tensor<4xf16>, tensor<4x3xf16>
  %2 = mp.prod_backward %0, %x dims[1] : tensor<4xf16>, tensor<4x3xf16>
  return %0, %1, %2 : tensor<4xf16>, tensor<i32>, tensor<4x3xf16>
}

// An index is i64 if no type is given.
// CHECK-LABEL: @argmax
// CHECK-SAME: -> (tensor<?xi64>, tensor<?x1xi32>, tensor<i64>)
func.func @argmax(%x: tensor<?x10xf16>, %n: tensor<7xui8>) -> (tensor<?xi64>, tensor<?x1xi32>, tensor<i64>) {
  // CHECK: mp.argmax %{{.*}} dim(1) : tensor<?x10xf16>
  %0 = mp.argmax %x dim(1) : tensor<?x10xf16>
  // CHECK: mp.argmax %{{.*}} dim(1) keepdim {dtype = i32} : tensor<?x10xf16>
  %1 = mp.argmax %x dim(1) keepdim {dtype = i32} : tensor<?x10xf16>
  %2 = mp.argmax %n dim(0) : tensor<7xui8>
  return %0, %1, %2 : tensor<?xi64>, tensor<?x1xi32>, tensor<i64>
}

// Empty tensors have a sum and a product.
// CHECK-LABEL: @of_nothing
func.func @of_nothing(%z: tensor<4x0xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = mp.sum %z dims[1] : tensor<4x0xf32>
  %1 = mp.prod %z dims[1] : tensor<4x0xf32>
  %2 = mp.mean %z dims[1] : tensor<4x0xf32>
  %3 = mp.logsumexp %z dims[1] : tensor<4x0xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
