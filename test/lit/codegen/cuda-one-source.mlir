// The output is one text that a compiler accepts unchanged, for stages, products, moves or merged launches. (NVRTC:
// test/unit/codegen/cuda-gate-test.cpp.)
// DEFINE: %{clang} = clang++-22 -x cuda --cuda-device-only -nocudainc -nocudalib -Werror -Wno-unknown-cuda-version -S -o - %t.cu
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=f %s >%t.cu && %{clang} | FileCheck %s --check-prefix=PTX
// RUN: FileCheck %s <%t.cu
// RUN: sh -c 'for model in attention batchnorm mlp-odd normalised reductions wide-rows; do for precision in fp32 tf32 fp16 bf16 fp8; do mp-translate --mp-to-cuda --mp-batch=33 --mp-total-steps=9 --mp-precision=$precision %source/test/models/$model.mlir >%t.cu && clang++-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -Werror -Wno-unknown-cuda-version -fsyntax-only %t.cu || exit 1; done; done'
// RUN: mp-translate --mp-to-cuda --mp-headers=false --mp-goal=run --mp-function=f %s >%t.cu && clang++-22 -x cuda --cuda-device-only -nocudainc -nocudalib -I %source/codegen/cuda/kernels -fsyntax-only %t.cu

// Each header comes once and before those that include it; each kernel is in a namespace.
// CHECK-NOT: #include "
// CHECK: // clang.cuh
// CHECK: // prelude.cuh
// CHECK: // combine.cuh
// CHECK-NOT: // prelude.cuh
// CHECK: namespace [[FIRST:k_[0-9a-f]+]] {
// CHECK-NEXT: using namespace mp;
// CHECK: [[FIRST]](
// CHECK: } // namespace [[FIRST]]
// CHECK: namespace k_

// PTX-COUNT-2: .entry k_{{[0-9a-f]+}}
func.func @f(%x: tensor<64x32xf16>, %w: tensor<32x32xf16>) -> (tensor<64x32xf16>, tensor<32x64xf32>) {
  %y = mp.matmul %x, %w : tensor<64x32xf16>, tensor<32x32xf16>
  %s = mp.softmax %y dim(1) : tensor<64x32xf16>
  %c = mp.cast %x : tensor<64x32xf16> to tensor<64x32xf32>
  %t = mp.transpose %c [1, 0] : tensor<64x32xf32>
  return %s, %t : tensor<64x32xf16>, tensor<32x64xf32>
}
