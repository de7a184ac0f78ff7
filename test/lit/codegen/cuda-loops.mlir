// RUN: mp-translate --mp-to-program --mp-target=cuda --mp-arch=sm_90 --mp-goal=run --mp-function=f %s | grep -E "^entry|^  (launch|copy|call|repeat)" | FileCheck %s --implicit-check-not=repeat
// RUN: mp-translate --mp-to-cuda --mp-arch=sm_90 --mp-headers=false --mp-goal=run --mp-function=f %s | FileCheck %s --check-prefix=CODE

// A loop whose weights fit into shared memory is one launch. Its blocks wait for
// one another: for the product, and for what the round before left.

// CHECK: launch {{.*}} cooperative args {{.*}} ; linear add tanh
// CODE: a loop of 35 rounds
// CODE: extern "C" __global__ void __launch_bounds__(256, 1)
// CODE: part0::keep(static_cast<int>(blockIdx.x), shared +
// CODE: for (long long round = 0; round < 35; ++round)
// CODE: gridBarrier(arrived);
// CODE: part0::multiply(block, shared +
// CODE-SAME: round * 65536
func.func @f(%xs: tensor<35x32x512xf32>, %h0: tensor<32x512xf32>, %w: tensor<512x512xf32>) -> tensor<35x32x512xf32> {
  %r:2 = mp.scan carried(%h = %h0 : tensor<32x512xf32>) over(%x = %xs : tensor<35x32x512xf32>)
      -> (tensor<32x512xf32>, tensor<35x32x512xf32>) {
    %p = mp.linear %h, %w : tensor<32x512xf32>, tensor<512x512xf32>
    %s = mp.add %p, %x : tensor<32x512xf32>, tensor<32x512xf32>
    %t = mp.tanh %s : tensor<32x512xf32>
    mp.yield %t, %t : tensor<32x512xf32>, tensor<32x512xf32>
  }
  return %r#1 : tensor<35x32x512xf32>
}
