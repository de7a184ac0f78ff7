// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// Angles of tokens, and of the tokens of each sample.
// CHECK-LABEL: @rotary
func.func @rotary(%x: tensor<?x16x4x64xbf16>, %c: tensor<16x32xf32>, %s: tensor<16x32xf32>, %y: tensor<?x4x16x64xf32>,
                  %d: tensor<?x4x16x32xf32>) -> tensor<?x16x4x64xbf16> {
  // CHECK: mp.rotary_embedding %{{.*}}, %{{.*}}, %{{.*}} dim(1) : tensor<?x16x4x64xbf16>, tensor<16x32xf32>
  %0 = mp.rotary_embedding %x, %c, %s dim(1) : tensor<?x16x4x64xbf16>, tensor<16x32xf32>
  // CHECK: mp.rotary_embedding %{{.*}}, %{{.*}}, %{{.*}} dim(2) interleaved inverse : tensor<?x4x16x64xf32>, tensor<?x4x16x32xf32>
  %1 = mp.rotary_embedding %y, %d, %d dim(2) interleaved inverse : tensor<?x4x16x64xf32>, tensor<?x4x16x32xf32>
  return %0 : tensor<?x16x4x64xbf16>
}
