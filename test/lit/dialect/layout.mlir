// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK-LABEL: @boxes
func.func @boxes(%x: tensor<?x10xf32>, %f: tensor<4x3xi1>, %n: tensor<f16>) -> (tensor<?x4xf32>, tensor<?x18xf32>, tensor<8x3xi1>) {
  // CHECK: mp.slice %{{.*}} offsets[0, 2] sizes[-1, 4] strides[1, 2] : tensor<?x10xf32>
  %0 = mp.slice %x offsets[0, 2] sizes[-1, 4] strides[1, 2] : tensor<?x10xf32>
  // CHECK: mp.slice %{{.*}} offsets[1, 3] sizes[-1, 0] : tensor<4x3xi1>
  %1 = mp.slice %f offsets[1, 3] sizes[-1, 0] : tensor<4x3xi1>
  // CHECK: mp.slice %{{.*}} offsets[] sizes[] : tensor<f16>
  %2 = mp.slice %n offsets[] sizes[] : tensor<f16>
  // CHECK: mp.pad %{{.*}} low[0, 1] high[0, 7] : tensor<?x10xf32>
  %3 = mp.pad %x low[0, 1] high[0, 7] : tensor<?x10xf32>
  // CHECK: mp.pad %{{.*}} low[0, 1] high[0, 0] interior[2, 0] value(1.000000e+00) : tensor<4x3xi1>
  %4 = mp.pad %f low[0, 1] high[0, 0] interior[2, 0] value(1.0) : tensor<4x3xi1>
  // CHECK: mp.concat %{{.*}}, %{{.*}} dim(0) : tensor<4x3xi1>, tensor<4x3xi1>
  %5 = mp.concat %f, %f dim(0) : tensor<4x3xi1>, tensor<4x3xi1>
  // CHECK: mp.concat %{{.*}}, %{{.*}} dim(1) : tensor<?x10xf32>, tensor<?x4xf32>
  %6 = mp.concat %x, %0 dim(1) : tensor<?x10xf32>, tensor<?x4xf32>
  return %0, %3, %5 : tensor<?x4xf32>, tensor<?x18xf32>, tensor<8x3xi1>
}

// CHECK-LABEL: @rows
func.func @rows(%t: tensor<50x8xbf16>, %i: tensor<?x6xi32>, %u: tensor<?x6x8xbf16>, %p: tensor<2x9x4xf32>, %j: tensor<3xi64>, %k: tensor<ui8>, %b: tensor<2x3xi32>)
    -> (tensor<?x6x8xbf16>, tensor<50x8xbf16>, tensor<2x3x4xf32>, tensor<2x4xf32>) {
  // CHECK: mp.gather %{{.*}}, %{{.*}} dim(0) : tensor<50x8xbf16>, tensor<?x6xi32>
  %0 = mp.gather %t, %i dim(0) : tensor<50x8xbf16>, tensor<?x6xi32>
  // CHECK: mp.scatter_add %{{.*}}, %{{.*}} dim(0) size(50) : tensor<?x6x8xbf16>, tensor<?x6xi32>
  %1 = mp.scatter_add %u, %i dim(0) size(50) : tensor<?x6x8xbf16>, tensor<?x6xi32>
  // CHECK: mp.scatter_add %{{.*}}, %{{.*}} into %{{.*}} dim(0) : tensor<?x6x8xbf16>, tensor<?x6xi32>, tensor<50x8xbf16>
  %2 = mp.scatter_add %u, %i into %t dim(0) : tensor<?x6x8xbf16>, tensor<?x6xi32>, tensor<50x8xbf16>
  // CHECK: mp.gather %{{.*}}, %{{.*}} dim(1) : tensor<2x9x4xf32>, tensor<3xi64>
  %3 = mp.gather %p, %j dim(1) : tensor<2x9x4xf32>, tensor<3xi64>
  // CHECK: mp.gather %{{.*}}, %{{.*}} dim(1) : tensor<2x9x4xf32>, tensor<ui8>
  %4 = mp.gather %p, %k dim(1) : tensor<2x9x4xf32>, tensor<ui8>
  // CHECK: mp.gather %{{.*}}, %{{.*}} dim(1) batched : tensor<2x9x4xf32>, tensor<2x3xi32>
  %5 = mp.gather %p, %b dim(1) batched : tensor<2x9x4xf32>, tensor<2x3xi32>
  // CHECK: mp.scatter_add %{{.*}}, %{{.*}} dim(1) batched size(9) : tensor<2x3x4xf32>, tensor<2x3xi32>
  %6 = mp.scatter_add %5, %b dim(1) batched size(9) : tensor<2x3x4xf32>, tensor<2x3xi32>
  // CHECK: mp.scatter_add %{{.*}}, %{{.*}} into %{{.*}} dim(1) batched : tensor<2x3x4xf32>, tensor<2x3xi32>, tensor<2x9x4xf32>
  %7 = mp.scatter_add %5, %b into %p dim(1) batched : tensor<2x3x4xf32>, tensor<2x3xi32>, tensor<2x9x4xf32>
  // CHECK: mp.scatter_add %{{.*}}, %{{.*}} dim(2) size(5) : tensor<2x3x4xf32>, tensor<4xi32>
  %l = mp.constant dense<1> : tensor<4xi32>
  %8 = mp.scatter_add %3, %l dim(2) size(5) : tensor<2x3x4xf32>, tensor<4xi32>
  %m = mp.constant dense<[4, 0, 9]> : tensor<3xi32>
  %n = mp.slice %t offsets[0, 0] sizes[3, 8] : tensor<50x8xbf16>
  // CHECK: mp.scatter_rows %{{.*}}, %{{.*}} into %{{.*}} : tensor<3x8xbf16>, tensor<3xi32>, tensor<50x8xbf16>
  %9 = mp.scatter_rows %n, %m into %t : tensor<3x8xbf16>, tensor<3xi32>, tensor<50x8xbf16>
  return %0, %2, %3, %4 : tensor<?x6x8xbf16>, tensor<50x8xbf16>, tensor<2x3x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @others
func.func @others(%x: tensor<?x10xf16>, %y: tensor<?xui8>) -> (tensor<?x10xf16>, tensor<?x10xf32>, tensor<?x3xi64>) {
  // CHECK: mp.cumsum %{{.*}} dim(1) : tensor<?x10xf16>
  %0 = mp.cumsum %x dim(1) : tensor<?x10xf16>
  // CHECK: mp.cumsum %{{.*}} dim(0) reverse : tensor<?x10xf16>
  %1 = mp.cumsum %0 dim(0) reverse : tensor<?x10xf16>
  // CHECK: mp.one_hot %{{.*}} classes(10) as f32 : tensor<?xui8>
  %2 = mp.one_hot %y classes(10) as f32 : tensor<?xui8>
  // CHECK: mp.one_hot %{{.*}} classes(3) as i64 : tensor<?xui8>
  %3 = mp.one_hot %y classes(3) as i64 : tensor<?xui8>
  return %1, %2, %3 : tensor<?x10xf16>, tensor<?x10xf32>, tensor<?x3xi64>
}

// The sizes may be zero, and strides of a single element arbitrary.
// CHECK-LABEL: @corners
func.func @corners(%x: tensor<4x0xf32>, %y: tensor<1xf32>, %i: tensor<0xi32>) -> (tensor<2x0xf32>, tensor<0xf32>, tensor<1xf32>, tensor<1xf32>, tensor<4x2xf32>) {
  %0 = mp.slice %x offsets[2, 0] sizes[-1, -1] : tensor<4x0xf32>
  %1 = mp.gather %y, %i dim(0) : tensor<1xf32>, tensor<0xi32>
  %2 = mp.slice %y offsets[0] sizes[1] strides[9223372036854775807] : tensor<1xf32>
  %3 = mp.pad %y low[0] high[0] interior[9223372036854775807] : tensor<1xf32>
  // CHECK: mp.pad %{{.*}} low[0, 1] high[0, 1] interior[0, 5] : tensor<4x0xf32>
  %4 = mp.pad %x low[0, 1] high[0, 1] interior[0, 5] : tensor<4x0xf32>
  return %0, %1, %2, %3, %4 : tensor<2x0xf32>, tensor<0xf32>, tensor<1xf32>, tensor<1xf32>, tensor<4x2xf32>
}
