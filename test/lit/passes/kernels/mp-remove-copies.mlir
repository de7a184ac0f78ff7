// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse,mp-remove-copies))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse,mp-remove-copies,mp-lower-kernels))' | FileCheck %s --check-prefix=STAGES

// A kernel reads rows of 32 in rows of 96. What it yields as a part of the result is in rows of 64, and once more
// without gaps, as it is also returned.
// CHECK-LABEL: @parts
// CHECK: %[[P:.*]] = mp.part %arg0 at 32 : tensor<8x96xf32> to tensor<8x32xf32, #mp.rows<count = 8, stride = 96, aligned = 16>>
// CHECK: %[[K:.*]]:3 = mp.kernel(%{{.*}} = %[[P]] : tensor<8x32xf32, #mp.rows<count = 8, stride = 96, aligned = 16>> as tensor<8x32xf32>
// CHECK-SAME: -> (tensor<8x32xf32, #[[$R:.*]]>, tensor<8x32xf32>, tensor<8x32xf32, #[[$R]]>)
// CHECK: mp.yield %[[B:.*]], %[[C:.*]], %[[C]]
// CHECK: %[[D:.*]] = mp.assemble %[[K]]#2, %[[K]]#0 at [0, 32]
// CHECK-NOT: mp.kernel
// CHECK: return %[[K]]#1, %[[D]]
// STAGES-LABEL: @parts
// STAGES: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x32xf32, #mp.rows<count = 8, stride = 96, aligned = 16>>, tensor<8x32xf32>)
// STAGES: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x32xf32, #mp.rows<count = 8, stride = 64, aligned = 16>>)
func.func @parts(%x: tensor<8x96xf32>, %y: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x64xf32>) {
  %a = mp.slice %x offsets[0, 32] sizes[-1, 32] : tensor<8x96xf32>
  %b = mp.add %a, %y : tensor<8x32xf32>, tensor<8x32xf32>
  %c = mp.exp %b : tensor<8x32xf32>
  %d = mp.concat %c, %b dim(1) : tensor<8x32xf32>, tensor<8x32xf32>
  return %c, %d : tensor<8x32xf32>, tensor<8x64xf32>
}

// A product does not read rows with gaps: they are copied, by a kernel that knows no place. It does read a part
// without gaps.
// CHECK-LABEL: @anchors
// CHECK-DAG: %[[G:.*]] = mp.part %arg0 at 4 : tensor<8x16xf32> to tensor<8x8xf32, #mp.rows<count = 8, stride = 16, aligned = 4>>
// CHECK-DAG: %[[N:.*]] = mp.part %arg0 at 64 : tensor<8x16xf32> to tensor<4x16xf32>
// CHECK-DAG: %[[C:.*]] = mp.kernel(%{{.*}} = %[[G]]{{.*}}) attributes {ops = "slice"} -> tensor<8x8xf32>
// CHECK-DAG: mp.kernel(%{{.*}} = %[[C]] : tensor<8x8xf32>, %{{.*}} = %arg1 : tensor<8x8xf32>)
// CHECK-DAG: mp.kernel(%{{.*}} = %[[N]] : tensor<4x16xf32>, %{{.*}} = %arg0 : tensor<8x16xf32>)
func.func @anchors(%x: tensor<8x16xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<4x8xf32>) {
  %a = mp.slice %x offsets[0, 4] sizes[-1, 8] : tensor<8x16xf32>
  %b = mp.matmul %a, %w : tensor<8x8xf32>, tensor<8x8xf32>
  %c = mp.slice %x offsets[4, 0] sizes[4, 16] : tensor<8x16xf32>
  %d = mp.matmul %c, %x transpose_b : tensor<4x16xf32>, tensor<8x16xf32>
  return %b, %d : tensor<8x8xf32>, tensor<4x8xf32>
}

// Every second column is no row of a distance: a copy.
// CHECK-LABEL: @steps
// CHECK-NOT: mp.part
// CHECK: mp.slice
func.func @steps(%x: tensor<8x16xf32>) -> tensor<8x8xf32> {
  %a = mp.slice %x offsets[0, 0] sizes[-1, 8] strides[1, 2] : tensor<8x16xf32>
  %b = mp.exp %a : tensor<8x8xf32>
  return %b : tensor<8x8xf32>
}

// What is written in parts is a part itself, where it lies without gaps; in a larger tensor of the same rows its parts
// are written once more.
// CHECK-LABEL: @nested
// CHECK: %[[K:.*]]:4 = mp.kernel
// CHECK: %[[I:.*]] = mp.assemble %[[K]]#{{.}}, %[[K]]#{{.}} at [0, 32] {{.*}} to tensor<2x64xf32>
// CHECK: mp.assemble %[[I]], %{{.*}} at [0, 128] {{.*}} to tensor<4x64xf32>
// CHECK: mp.assemble %[[K]]#2, %[[K]]#3, %{{.*}} at [0, 32, 64] {{.*}} to tensor<2x2x64xf32>
func.func @nested(%x: tensor<2x32xf32>, %y: tensor<2x64xf32>) -> (tensor<4x64xf32>, tensor<2x2x64xf32>) {
  %a = mp.exp %x : tensor<2x32xf32>
  %b = mp.tanh %x : tensor<2x32xf32>
  %c = mp.concat %a, %b dim(1) : tensor<2x32xf32>, tensor<2x32xf32>
  %d = mp.concat %c, %y dim(0) : tensor<2x64xf32>, tensor<2x64xf32>
  %e = mp.reshape %c : tensor<2x64xf32> to tensor<2x1x64xf32>
  %f = mp.reshape %y : tensor<2x64xf32> to tensor<2x1x64xf32>
  %g = mp.concat %e, %f dim(1) : tensor<2x1x64xf32>, tensor<2x1x64xf32>
  return %d, %g : tensor<4x64xf32>, tensor<2x2x64xf32>
}
