// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @forward
func.func @forward(%x: tensor<4xf32>) {
  // CHECK: mp.relu %{{.*}} : tensor<4xf32>
  %0 = mp.relu %x : tensor<4xf32>
  // CHECK: mp.tanh %{{.*}} : tensor<4xf32>
  %1 = mp.tanh %x : tensor<4xf32>
  // CHECK: mp.sigmoid %{{.*}} : tensor<4xf32>
  %2 = mp.sigmoid %x : tensor<4xf32>
  // CHECK: mp.gelu %{{[^ ]*}} : tensor<4xf32>
  %3 = mp.gelu %x : tensor<4xf32>
  // CHECK: mp.gelu %{{.*}} approximate(tanh) : tensor<4xf32>
  %4 = mp.gelu %x approximate(tanh) : tensor<4xf32>
  // CHECK: mp.softplus %{{[^ ]*}} : tensor<4xf32>
  %5 = mp.softplus %x {beta = 1.0, threshold = 20.0} : tensor<4xf32>
  // CHECK: mp.softplus %{{.*}} {beta = 2.000000e+00 : f64, threshold = 3.000000e+00 : f64} : tensor<4xf32>
  %6 = mp.softplus %x {beta = 2.0, threshold = 3.0} : tensor<4xf32>
  // CHECK: mp.silu %{{[^ ]*}} : tensor<4xf32>
  %7 = mp.silu %x : tensor<4xf32>
  // CHECK: mp.leaky_relu %{{[^ ]*}} : tensor<4xf32>
  %8 = mp.leaky_relu %x {negative_slope = 0.01} : tensor<4xf32>
  // CHECK: mp.leaky_relu %{{.*}} {negative_slope = 2.000000e-01 : f64} : tensor<4xf32>
  %9 = mp.leaky_relu %x {negative_slope = 0.2} : tensor<4xf32>
  // CHECK: mp.elu %{{[^ ]*}} : tensor<4xf32>
  %10 = mp.elu %x : tensor<4xf32>
  // CHECK: mp.elu %{{.*}} {alpha = 5.000000e-01 : f64} : tensor<4xf32>
  %11 = mp.elu %x {alpha = 0.5} : tensor<4xf32>
  return
}

// CHECK-LABEL: @backward
func.func @backward(%g: tensor<4xf16>, %x: tensor<4xf16>) {
  // CHECK: mp.relu_backward %{{.*}}, %{{.*}} : tensor<4xf16>, tensor<4xf16>
  %0 = mp.relu_backward %g, %x : tensor<4xf16>, tensor<4xf16>
  // CHECK: mp.tanh_backward
  %1 = mp.tanh_backward %g, %x : tensor<4xf16>, tensor<4xf16>
  // CHECK: mp.sigmoid_backward
  %2 = mp.sigmoid_backward %g, %x : tensor<4xf16>, tensor<4xf16>
  // CHECK: mp.gelu_backward %{{.*}}, %{{[^ ]*}} : tensor<4xf16>, tensor<4xf16>
  %3 = mp.gelu_backward %g, %x : tensor<4xf16>, tensor<4xf16>
  // CHECK: mp.gelu_backward %{{.*}}, %{{.*}} approximate(tanh) : tensor<4xf16>, tensor<4xf16>
  %4 = mp.gelu_backward %g, %x approximate(tanh) : tensor<4xf16>, tensor<4xf16>
  // CHECK: mp.softplus_backward %{{.*}}, %{{.*}} {beta = 2.000000e+00 : f64} : tensor<4xf16>, tensor<4xf16>
  %5 = mp.softplus_backward %g, %x {beta = 2.0} : tensor<4xf16>, tensor<4xf16>
  // CHECK: mp.silu_backward %{{.*}}, %{{.*}} : tensor<4xf16>, tensor<4xf16>
  %6 = mp.silu_backward %g, %x : tensor<4xf16>, tensor<4xf16>
  // CHECK: mp.leaky_relu_backward %{{.*}}, %{{.*}} {negative_slope = 2.000000e-01 : f64} : tensor<4xf16>, tensor<4xf16>
  %7 = mp.leaky_relu_backward %g, %x {negative_slope = 0.2} : tensor<4xf16>, tensor<4xf16>
  // CHECK: mp.elu_backward %{{.*}}, %{{.*}} {alpha = 5.000000e-01 : f64} : tensor<4xf16>, tensor<4xf16>
  %8 = mp.elu_backward %g, %x {alpha = 0.5} : tensor<4xf16>, tensor<4xf16>
  return
}
