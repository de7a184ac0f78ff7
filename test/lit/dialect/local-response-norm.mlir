// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @norm
func.func @norm(%x: tensor<?x5x7x9xbf16>, %v: tensor<9xf32>) -> (tensor<?x5x7x9xbf16>, tensor<9xf32>) {
  // CHECK: mp.local_response_norm %{{.*}} size(5) : tensor<?x5x7x9xbf16>
  %0 = mp.local_response_norm %x size(5) : tensor<?x5x7x9xbf16>
  // CHECK: mp.local_response_norm %{{.*}} size(4) {alpha = 5.000000e-01 : f64, beta = 1.000000e+00 : f64, k = 2.000000e+00 : f64} : tensor<9xf32>
  %1 = mp.local_response_norm %v size(4) {alpha = 0.5, beta = 1.0, k = 2.0} : tensor<9xf32>
  // CHECK: mp.window_sum %{{.*}} size(20) low(19) : tensor<9xf32>
  %2 = mp.window_sum %1 size(20) low(19) : tensor<9xf32>
  return %0, %2 : tensor<?x5x7x9xbf16>, tensor<9xf32>
}
