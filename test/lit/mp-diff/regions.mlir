// Ops in a region are numbered with the others, compared in f64 and f32 too, and know the makers of their operands.
// RUN: mp-diff %s --policy bf16:torch --tolerance 1e-9 --device cpu --steps 0 --all | FileCheck %s
// CHECK: 1 mul {{.*}} | f32 {{.*}} | f32 native
// CHECK-NEXT: 2 exp {{.*}} | f32 {{.*}} | f32 native
// CHECK-NEXT: 3 matmul {{.*}} | f32 {{.*}} | f16 allow 2
// CHECK-NEXT: 4 add {{.*}} | f32 {{.*}} | f32 native 1
// CHECK: fp32: first beyond the tolerance: #1 mp.mul
// CHECK: bf16:torch: first beyond the tolerance: #1 mp.mul
func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %m = mp.mul %x, %x : tensor<8x8xf32>, tensor<8x8xf32>
  %e, %p = mp.autocast enabled(false) {
    %1 = mp.exp %m : tensor<8x8xf32>
    %2 = mp.autocast dtype(f16) {
      %3 = mp.matmul %1, %m : tensor<8x8xf32>, tensor<8x8xf32>
      mp.yield %3 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    mp.yield %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
  } : tensor<8x8xf32>, tensor<8x8xf32>
  %y = mp.add %e, %p : tensor<8x8xf32>, tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
