// RUN: mp-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @identities(%x: tensor<4xf32>) -> tensor<4xf32> {
  %minus_zero = mp.constant dense<-0.0> : tensor<f32>
  %zero = mp.constant dense<0.0> : tensor<4xf32>
  %one = mp.constant dense<1.0> : tensor<1xf32>
  %0 = mp.add %x, %minus_zero : tensor<4xf32>, tensor<f32>
  %1 = mp.sub %0, %zero : tensor<4xf32>, tensor<4xf32>
  %2 = mp.mul %one, %1 : tensor<1xf32>, tensor<4xf32>
  %3 = mp.div %2, %one : tensor<4xf32>, tensor<1xf32>
  // CHECK-NEXT: return %[[X]]
  return %3 : tensor<4xf32>
}

// CHECK-LABEL: @integers
// CHECK-SAME: (%[[X:.*]]: tensor<4xui8>)
func.func @integers(%x: tensor<4xui8>) -> tensor<4xui8> {
  %zero = mp.constant dense<0> : tensor<ui8>
  %one = mp.constant dense<1> : tensor<ui8>
  %0 = mp.add %x, %zero : tensor<4xui8>, tensor<ui8>
  %1 = mp.mul %0, %one : tensor<4xui8>, tensor<ui8>
  // CHECK-NEXT: return %[[X]]
  return %1 : tensor<4xui8>
}

// CHECK-LABEL: @twice
// CHECK-SAME: (%[[X:.*]]: tensor<4xf16>, %[[F:.*]]: tensor<i1>)
func.func @twice(%x: tensor<4xf16>, %f: tensor<i1>) -> (tensor<4xf16>, tensor<i1>) {
  %0 = mp.neg %x : tensor<4xf16>
  %1 = mp.neg %0 : tensor<4xf16>
  %2 = mp.not %f : tensor<i1>
  %3 = mp.not %2 : tensor<i1>
  // CHECK-NEXT: return %[[X]], %[[F]]
  return %1, %3 : tensor<4xf16>, tensor<i1>
}

// -0.0 + 0.0 is 0.0, and -0.0 - -0.0 is 0.0.
// CHECK-LABEL: @negative_zero
func.func @negative_zero(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = mp.constant dense<0.0> : tensor<f32>
  %minus_zero = mp.constant dense<-0.0> : tensor<f32>
  // CHECK: mp.add
  %0 = mp.add %x, %zero : tensor<4xf32>, tensor<f32>
  // CHECK: mp.sub
  %1 = mp.sub %x, %minus_zero : tensor<4xf32>, tensor<f32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A product by one that makes the shape larger stays.
// CHECK-LABEL: @larger
func.func @larger(%x: tensor<3xf32>) -> tensor<4x3xf32> {
  %one = mp.constant dense<1.0> : tensor<4x3xf32>
  // CHECK: mp.mul
  %0 = mp.mul %x, %one : tensor<3xf32>, tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// One over x is not x, nor is zero minus x.
// CHECK-LABEL: @sides
func.func @sides(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = mp.constant dense<0.0> : tensor<f32>
  %one = mp.constant dense<1.0> : tensor<f32>
  // CHECK: mp.div
  %0 = mp.div %one, %x : tensor<f32>, tensor<4xf32>
  // CHECK: mp.sub
  %1 = mp.sub %zero, %x : tensor<f32>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Not every element is one.
// CHECK-LABEL: @not_a_splat
func.func @not_a_splat(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = mp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: mp.mul
  %0 = mp.mul %x, %c : tensor<2xf32>, tensor<2xf32>
  return %0 : tensor<2xf32>
}
