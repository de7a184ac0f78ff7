// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s --mp-set-mode=mode=eval | FileCheck %s --check-prefix=EVAL
// RUN: mp-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @ops
// EVAL-LABEL: @ops
func.func @ops(%x: tensor<?x3xf16>, %g: tensor<4xf32>) -> (tensor<?x3xf16>, tensor<?x3xf16>) {
  // CHECK: %[[K:.*]] = mp.checkpoint %{{.*}} : tensor<?x3xf16>
  // EVAL-NOT: mp.checkpoint
  %0 = mp.checkpoint %x : tensor<?x3xf16>
  // CHECK: mp.recompute_barrier %[[K]] since %{{.*}} : tensor<?x3xf16>, tensor<4xf32>
  %1 = mp.recompute_barrier %0 since %g : tensor<?x3xf16>, tensor<4xf32>
  return %0, %1 : tensor<?x3xf16>, tensor<?x3xf16>
}
