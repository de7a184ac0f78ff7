// A norm's weight and running statistics are f32, although a policy casts the ops that make them: they are cast back.

// RUN: mp-opt %s --mp-autocast='dtype=bf16 policy=torch' | FileCheck %s
// RUN: mp-opt %s --mp-autocast='dtype=bf16 policy=keras' | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: %[[MEAN:.*]] = mp.mean %{{.*}} : tensor<4x8xbf16>
// CHECK: %[[BACK:.*]] = mp.cast %[[MEAN]] : tensor<8xbf16> to tensor<8xf32>
// CHECK: mp.layer_norm %{{.*}} weight(%[[BACK]] : tensor<8xf32>)
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = mp.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %s = mp.mean %m dims[0] : tensor<4x8xf32>
  %y, %a, %b = mp.layer_norm %z weight(%s : tensor<8xf32>) : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
