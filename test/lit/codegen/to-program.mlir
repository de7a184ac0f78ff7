// RUN: mp-translate --mp-to-program --mp-goal=run --mp-mode=train %s | FileCheck %s -enable-var-scope
// RUN: mp-translate --mp-to-program --mp-goal=run --mp-onednn %s | FileCheck %s --check-prefix=LIBRARY

// A counter is written in place; a product and its relu become one kernel.

// CHECK: variable count slot i64 constant 0
mp.variable slot @count : tensor<i64> = #mp.init<zeros>

// CHECK: entry f batch 0 arena {{[0-9]+}}
func.func @f(%x: tensor<8x4xf32>, %w: tensor<16x4xf32>) -> tensor<8x16xf32> {
  %n = mp.read @count : tensor<i64>
  %one = mp.constant dense<1> : tensor<i64>
  // CHECK: launch [[COUNT:k_[0-9a-f]+]] grid 1 {{.*}} bytes 16 args @count+0 @count+0
  %next = mp.add %n, %one : tensor<i64>, tensor<i64>
  mp.write @count, %next : tensor<i64>
  // CHECK-NOT: copy
  // CHECK: launch {{.*}} flops 1024 {{.*}}input0+0 {{.*}} ; linear relu
  // LIBRARY: call dnnl.matmul grid 8 block 8 bytes 896 flops 1024 set m=8 n=16 k=4 {{.*}} relu=1
  %y = mp.linear %x, %w : tensor<8x4xf32>, tensor<16x4xf32>
  %a = mp.relu %y : tensor<8x16xf32>
  // CHECK-NOT: launch
  return %a : tensor<8x16xf32>
}
