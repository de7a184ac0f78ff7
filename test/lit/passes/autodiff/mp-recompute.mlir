// RUN: mp-opt %s --mp-autodiff --mp-recompute | FileCheck %s
// RUN: mp-opt %s --mp-autodiff --mp-recompute=recompute=all | FileCheck %s --check-prefix=ALL --implicit-check-not=mp.recompute_barrier
// RUN: mp-opt %s --mp-autodiff --mp-recompute --mp-recompute | FileCheck %s
// RUN: mp-opt %s --mp-autodiff --mp-recompute --cse --mp-fuse | FileCheck %s --check-prefix=FUSE --implicit-check-not=mp.recompute_barrier

// ALL-LABEL: func.func @step
// ALL-NOT: mp.checkpoint
// ALL: return

mp.variable @w : tensor<4x4xf32> = #mp.init<zeros>
mp.variable @v : tensor<4x4xf32> = #mp.init<zeros>

// Only the ops that lead to the checkpoint are computed again, directly before
// its first use, with the mask that forward drew. Values after it are kept.
// CHECK-LABEL: func.func @step
// CHECK: %[[W:.*]] = mp.read @w
// CHECK: %[[H:.*]] = mp.linear %[[X:.*]], %[[W]] :
// CHECK-NEXT: %[[A:.*]] = mp.gelu %[[H]]
// CHECK-NEXT: %[[D:.*]] = mp.dropout %[[A]] stream(7)
// CHECK-NEXT: %[[K:.*]] = mp.linear %[[D]],
// CHECK-NEXT: %[[E:.*]] = mp.exp %[[K]]
// CHECK: mp.seed
// CHECK: %[[G:.*]] = mp.mul %{{.*}}, %[[E]]
// CHECK-NEXT: mp.matmul %[[G]]
// CHECK-NEXT: %[[BX:.*]] = mp.recompute_barrier %[[X]] since %[[G]] : tensor<8x4xf32>, tensor<8x4xf32>
// CHECK-NEXT: %[[BW:.*]] = mp.recompute_barrier %[[W]] since %[[G]]
// CHECK-NEXT: %[[HH:.*]] = mp.linear %[[BX]], %[[BW]]
// CHECK-NEXT: %[[AA:.*]] = mp.gelu %[[HH]]
// CHECK-NEXT: %[[DD:.*]] = mp.dropout %[[AA]] stream(7)
// CHECK-NEXT: mp.matmul %[[G]], %[[DD]] transpose_a
// CHECK-NEXT: mp.dropout_backward %{{.*}} stream(7)
// CHECK-NEXT: mp.gelu_backward %{{.*}}, %[[HH]]

// Kernels of forward do not store values that only backward uses; those of
// backward come after them.
// FUSE-LABEL: func.func @step
// FUSE: ops = "linear gelu"} -> tensor<8x4xf32> {
// FUSE: ops = "dropout"}
// FUSE: ops = "linear exp
// FUSE: ops = "matmul"}
// FUSE: %[[H:.*]] = mp.kernel({{.*}}ops = "linear"}
// FUSE: mp.kernel({{.*}} = %[[H]] : {{.*}}ops = "gelu dropout"}
func.func @loss(%x: tensor<8x4xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x4xf32>
  %v = mp.read @v : tensor<4x4xf32>
  %h = mp.linear %x, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %a = mp.gelu %h : tensor<8x4xf32>
  %d = mp.dropout %a stream(7) : tensor<8x4xf32>
  %k = mp.linear %d, %v : tensor<8x4xf32>, tensor<4x4xf32>
  %c = mp.checkpoint %k : tensor<8x4xf32>
  %e = mp.exp %c : tensor<8x4xf32>
  %l = mp.mean %e dims[0, 1] : tensor<8x4xf32>
  return %l : tensor<f32>
}

mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
