// RUN: mp-translate --mp-to-program --mp-goal=run %s | FileCheck %s
// RUN: mp-translate --mp-to-program --mp-goal=run --mp-target=cuda --mp-arch=sm_80 %s | FileCheck %s

// A kernel of stages computes its result in the place of an operand that
// nothing reads any more: the first softmax's is, the second's is not.
// CHECK: launch {{.*}} arena+[[#PRODUCT:]] ; matmul
// CHECK: launch {{.*}} args arena+[[#PRODUCT]] arena+[[#PRODUCT]] ; max sub exp sum reciprocal mul
// CHECK: launch {{.*}} arena+[[#OTHER:]] ; matmul
// CHECK: launch {{.*}} args arena+[[#OTHER]] arena+[[#SOFTMAX:]] ; max sub exp sum reciprocal mul
// CHECK: launch {{.*}} args arena+[[#OTHER]] arena+[[#SOFTMAX]] {{.*}} ; matmul
func.func @f(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = mp.matmul %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %1 = mp.softmax %0 dim(1) : tensor<64x64xf32>
  %2 = mp.matmul %w, %1 : tensor<64x64xf32>, tensor<64x64xf32>
  %3 = mp.softmax %2 dim(1) : tensor<64x64xf32>
  %4 = mp.matmul %2, %3 : tensor<64x64xf32>, tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
