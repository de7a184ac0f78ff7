// RUN: mp-opt %s -mp-autocast | FileCheck %s
// RUN: mp-opt %s -mp-autocast=dtype=f16 | FileCheck %s --check-prefix=F16
// RUN: mp-opt %s -mp-autocast=dtype=f32 | FileCheck %s --check-prefix=F32

// The recipe gives the type; an option overrides it. Functions without a recipe are not cast.
// CHECK-LABEL: @loss
// F16-LABEL: @loss
// F32-LABEL: @loss
func.func @loss(%x: tensor<4x4xf32>) -> tensor<f32> {
  // CHECK: mp.matmul %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>
  // F16: mp.matmul %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
  // F32: mp.matmul %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  %0 = mp.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %1 = mp.sum %0 dims[0, 1] : tensor<4x4xf32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: @other
func.func @other(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: mp.matmul %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  %0 = mp.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

mp.train @step of @loss autocast(<dtype = bf16>) {
  mp.minimize result(0) {optimizer = #mp.sgd}
}
