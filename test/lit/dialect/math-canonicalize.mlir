// RUN: mp-opt %s -canonicalize | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(canonicalize,mp-fuse,mp-lower-kernels))' | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: @power_of_one
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @power_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = mp.constant dense<1.0> : tensor<f32>
  %0 = mp.pow %x, %one : tensor<4xf32>, tensor<f32>
  // CHECK-NEXT: return %[[X]]
  return %0 : tensor<4xf32>
}

// A power that makes the shape larger stays, and so does that of one.
// CHECK-LABEL: @kept
func.func @kept(%x: tensor<3xf32>, %y: tensor<f32>) -> (tensor<4x3xf32>, tensor<f32>) {
  %ones = mp.constant dense<1.0> : tensor<4x3xf32>
  %one = mp.constant dense<1.0> : tensor<f32>
  // CHECK: mp.pow
  %0 = mp.pow %x, %ones : tensor<3xf32>, tensor<4x3xf32>
  // CHECK: mp.pow
  %1 = mp.pow %one, %y : tensor<f32>, tensor<f32>
  return %0, %1 : tensor<4x3xf32>, tensor<f32>
}

// Other constant exponents become arithmetic in the compute type, rounded once.
// LOWER-LABEL: @cube
func.func @cube(%x: tensor<4xf16>) -> tensor<4xf16> {
  %c = mp.constant dense<3.0> : tensor<f16>
  // LOWER: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
  // LOWER: %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : f32
  // LOWER: %[[CUBE:.*]] = arith.mulf %[[SQUARE]], %[[WIDE]] : f32
  // LOWER-NEXT: %[[R:.*]] = arith.truncf %[[CUBE]] : f32 to f16
  // LOWER-NEXT: linalg.yield %[[R]] : f16
  %0 = mp.pow %x, %c : tensor<4xf16>, tensor<f16>
  return %0 : tensor<4xf16>
}

// LOWER-LABEL: @root
func.func @root(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = mp.constant dense<-0.5> : tensor<4xf32>
  // LOWER: math.sqrt
  // LOWER-NEXT: arith.divf
  // LOWER-NEXT: linalg.yield
  %0 = mp.pow %x, %c : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// No op is left that a target would have to call.
// LOWER-LABEL: @functions
func.func @functions(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // LOWER-NOT: math.{{sin|cos|pow|floor|erf|expm1|log1p|rsqrt}}
  // LOWER: return
  %0 = mp.sin %x : tensor<4xf32>
  %1 = mp.cos %0 : tensor<4xf32>
  %2 = mp.pow %1, %y : tensor<4xf32>, tensor<4xf32>
  %3 = mp.floor %2 : tensor<4xf32>
  %4 = mp.erf %3 : tensor<4xf32>
  %5 = mp.expm1 %4 : tensor<4xf32>
  %6 = mp.log1p %5 : tensor<4xf32>
  %7 = mp.rsqrt %6 : tensor<4xf32>
  return %7 : tensor<4xf32>
}
