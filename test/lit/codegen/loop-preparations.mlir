// RUN: mp-translate --mp-to-program --mp-goal=run --mp-function=f %s | FileCheck %s -enable-var-scope
// RUN: env MP_CUDA_LOOPS=launches mp-translate --mp-to-program --mp-goal=run --mp-target=cuda --mp-function=f %s | FileCheck %s --check-prefix=CUDA
// RUN: mp-translate --mp-to-program --mp-goal=run --mp-function=carried %s | FileCheck %s --check-prefix=CARRIED

// All rounds of a loop multiply by the same weight: a launch before the first one arranges it for them, and its copy
// lives until the last. What changes from round to round is arranged in each.

// CHECK: entry f
// CHECK: launch {{.*}} args input2+0 [[KEPT:arena[+][0-9]+]] ; linear
// CHECK-NEXT: repeat 5 steps 2
// CHECK-NEXT: launch {{.*}} args arena+{{[0-9]+}} by 1920 [[KEPT]] arena+{{[0-9]+}} ; linear
// CHECK-NEXT: launch {{.*}} ; add
// CHECK: buffer {{.*}} steps 2 5 "temporary of linear"
// CUDA: repeat 5 steps
// CUDA-NEXT: launch {{.*}} ; linear
func.func @f(%x: tensor<20x5x24xf32>, %h: tensor<20x24xf32>, %w: tensor<24x24xf32>) -> tensor<20x5x24xf32> {
  %last, %all = mp.scan carried(%s = %h : tensor<20x24xf32>) over(%e = %x : tensor<20x5x24xf32>) dim(1)
      -> (tensor<20x24xf32>, tensor<20x5x24xf32>) {
    %p = mp.linear %s, %w : tensor<20x24xf32>, tensor<24x24xf32>
    %n = mp.add %p, %e : tensor<20x24xf32>, tensor<20x24xf32>
    mp.yield %n, %n : tensor<20x24xf32>, tensor<20x24xf32>
  }
  return %all : tensor<20x5x24xf32>
}

// CARRIED: entry carried
// CARRIED-NOT: launch
// CARRIED: repeat 5 steps
// CARRIED-NEXT: launch {{.*}} flops 27648 {{.*}} ; matmul
func.func @carried(%h: tensor<24x24xf32>) -> tensor<24x24xf32> {
  %last = mp.scan carried(%s = %h : tensor<24x24xf32>) length(5) -> tensor<24x24xf32> {
    %p = mp.matmul %s, %s : tensor<24x24xf32>, tensor<24x24xf32>
    mp.yield %p : tensor<24x24xf32>
  }
  return %last : tensor<24x24xf32>
}
