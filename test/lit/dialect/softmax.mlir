// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<?x10xf16>) -> tensor<?x10xf16> {
  // CHECK: mp.softmax %{{.*}} dim(1) : tensor<?x10xf16>
  %0 = mp.softmax %x dim(1) : tensor<?x10xf16>
  // CHECK: mp.log_softmax %{{.*}} dim(0) : tensor<?x10xf16>
  %1 = mp.log_softmax %0 dim(0) : tensor<?x10xf16>
  // CHECK: mp.softmax_backward %{{.*}}, %{{.*}} dim(1) : tensor<?x10xf16>, tensor<?x10xf16>
  %2 = mp.softmax_backward %1, %0 dim(1) : tensor<?x10xf16>, tensor<?x10xf16>
  // CHECK: mp.log_softmax_backward %{{.*}}, %{{.*}} dim(1)
  %3 = mp.log_softmax_backward %2, %1 dim(1) : tensor<?x10xf16>, tensor<?x10xf16>
  return %3 : tensor<?x10xf16>
}
