// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @upsample
func.func @upsample(%x: tensor<?x5x7x3xf16>) -> (tensor<?x5x7x3xf16>, tensor<?x5x7x3xf16>) {
  // CHECK: mp.upsample_nearest %{{.*}} size[10, 4] : tensor<?x5x7x3xf16>
  %0 = mp.upsample_nearest %x size[10, 4] : tensor<?x5x7x3xf16>
  // CHECK: mp.upsample_nearest_backward %{{.*}} size[5, 7] : tensor<?x10x4x3xf16>
  %1 = mp.upsample_nearest_backward %0 size[5, 7] : tensor<?x10x4x3xf16>
  // CHECK: mp.upsample_bilinear %{{.*}} size[9, 9] : tensor<?x5x7x3xf16>
  %2 = mp.upsample_bilinear %x size[9, 9] : tensor<?x5x7x3xf16>
  // CHECK: mp.upsample_bilinear %{{.*}} size[9, 9] align_corners : tensor<?x5x7x3xf16>
  %3 = mp.upsample_bilinear %x size[9, 9] align_corners : tensor<?x5x7x3xf16>
  // CHECK: mp.upsample_bilinear_backward %{{.*}} size[5, 7] align_corners : tensor<?x9x9x3xf16>
  %4 = mp.upsample_bilinear_backward %3 size[5, 7] align_corners : tensor<?x9x9x3xf16>
  return %1, %4 : tensor<?x5x7x3xf16>, tensor<?x5x7x3xf16>
}
