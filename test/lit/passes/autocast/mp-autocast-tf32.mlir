// tf32 leaves every value f32; an op that the policy allows may multiply in
// tf32, and so may its gradients.
// RUN: mp-opt %s --mp-autocast=dtype=tf32 --mp-autodiff=function=f | FileCheck %s -enable-var-scope

// CHECK-LABEL: func.func @f(
// CHECK-NOT: mp.cast
// CHECK: mp.linear {{.*}} {compute = tf32} : tensor<4x8xf32>
// CHECK: mp.exp
// CHECK-LABEL: func.func @f.gradient(
// CHECK-NOT: mp.cast
// CHECK-COUNT-2: mp.matmul {{.*}} {compute = tf32} :
func.func @f(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<f32> {
  %y = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %e = mp.exp %y : tensor<4x2xf32>
  %l = mp.sum %e dims[0, 1] : tensor<4x2xf32>
  return %l : tensor<f32>
}
