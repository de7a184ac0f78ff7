// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt -mlir-print-op-generic %s | mp-opt | FileCheck %s

// CHECK-LABEL: @collectives
// CHECK-SAME: -> (tensor<3xf32>, tensor<f32>, tensor<4x3xf32>, tensor<2xbf16>, tensor<3xf32>, tensor<i64>)
func.func @collectives(%x: tensor<3xf32>, %n: tensor<f32>, %parts: tensor<4x2xbf16>)
    -> (tensor<3xf32>, tensor<f32>, tensor<4x3xf32>, tensor<2xbf16>, tensor<3xf32>, tensor<i64>) {
  // CHECK: mp.all_reduce sum %{{.*}}, %{{.*}} : tensor<3xf32>, tensor<f32>
  %0:2 = mp.all_reduce sum %x, %n : tensor<3xf32>, tensor<f32>
  // CHECK: mp.all_gather %{{.*}} ranks(4) : tensor<3xf32>
  %1 = mp.all_gather %x ranks(4) : tensor<3xf32>
  // CHECK: mp.reduce_scatter max %{{.*}} : tensor<4x2xbf16>
  %2 = mp.reduce_scatter max %parts : tensor<4x2xbf16>
  // CHECK: mp.broadcast_from %{{.*}} rank(3) : tensor<3xf32>
  %3 = mp.broadcast_from %x rank(3) : tensor<3xf32>
  // CHECK: mp.rank
  %4 = mp.rank
  return %0#0, %0#1, %1, %2, %3, %4
      : tensor<3xf32>, tensor<f32>, tensor<4x3xf32>, tensor<2xbf16>, tensor<3xf32>, tensor<i64>
}

// CHECK-LABEL: @flags
func.func @flags(%x: tensor<i1>) -> tensor<i1> {
  // CHECK: mp.all_reduce or %{{.*}} : tensor<i1>
  %0 = mp.all_reduce or %x : tensor<i1>
  return %0 : tensor<i1>
}
