// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse,mp-lower-kernels))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse,mp-lower-kernels,mp-lower-kernels))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse,mp-lower-kernels))' | FileCheck %s --check-prefix=MASKS

// Dimensions that all tensors have together become one. A splat constant is a number in
// the body; every stage computes in f32 and rounds once.
// CHECK-LABEL: @flat
func.func @flat(%x: tensor<4x8xf16>, %y: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // CHECK: mp.kernel(%[[X:.*]] = %{{.*}} : tensor<4x8xf16> as tensor<32xf16>, %[[Y:.*]] = %{{.*}} : tensor<4x8xf16> as tensor<32xf16>)
  // CHECK: %[[MUL:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[X]] : tensor<32xf16>)
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: f16, %{{.*}}: f16):
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[IN]] : f16 to f32
  // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2.000000e+00 : f16
  // CHECK-NEXT: %[[C:.*]] = arith.extf %[[TWO]] : f16 to f32
  // CHECK-NEXT: %[[P:.*]] = arith.mulf %[[WIDE]], %[[C]] : f32
  // CHECK-NEXT: %[[R:.*]] = arith.truncf %[[P]] : f32 to f16
  // CHECK-NEXT: linalg.yield %[[R]] : f16
  // CHECK: %[[ADD:.*]] = linalg.generic {{.*}} ins(%[[MUL]], %[[Y]] : tensor<32xf16>, tensor<32xf16>)
  // CHECK: mp.yield %[[ADD]] : tensor<32xf16>
  %c = mp.constant dense<2.0> : tensor<f16>
  %0 = mp.mul %x, %c : tensor<4x8xf16>, tensor<f16>
  %1 = mp.add %0, %y : tensor<4x8xf16>, tensor<4x8xf16>
  return %1 : tensor<4x8xf16>
}

// Rows and columns. A sum starts from -0.0, which addition leaves alone.
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<4x2x8xf32>) -> tensor<4x2xf32> {
  // CHECK: mp.kernel(%{{.*}} : tensor<4x2x8xf32> as tensor<8x8xf32>)
  // CHECK: %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
  // CHECK: %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<8xf32>)
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%[[START]] : tensor<8xf32>)
  // CHECK: mp.yield %{{.*}} : tensor<8xf32>
  %0 = mp.sum %x dims[2] : tensor<4x2x8xf32>
  return %0 : tensor<4x2xf32>
}

// No two dimensions can be merged; dimensions of one are dropped all the same.
// CHECK-LABEL: @apart
func.func @apart(%x: tensor<4x2x8xf32>, %y: tensor<4x1x8xf32>) -> tensor<4x2x8xf32> {
  // CHECK: mp.kernel(%{{.*}} = %{{.*}} : tensor<4x2x8xf32>, %{{.*}} = %{{.*}} : tensor<4x1x8xf32> as tensor<4x8xf32>)
  // CHECK: iterator_types = ["parallel", "parallel", "parallel"]
  %0 = mp.add %x, %y : tensor<4x2x8xf32>, tensor<4x1x8xf32>
  return %0 : tensor<4x2x8xf32>
}

// Bytes have no sign inside of a kernel; the op has it.
// CHECK-LABEL: @unsigned
func.func @unsigned(%x: tensor<4xui8>) -> tensor<4xf32> {
  // CHECK: mp.kernel(%{{.*}} = %{{.*}} : tensor<4xui8> as tensor<4xi8>)
  // CHECK: arith.uitofp %{{.*}} : i8 to f32
  %0 = mp.cast %x : tensor<4xui8> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @iota
func.func @iota(%y: tensor<4x1xi32>) -> tensor<4x8xi1> {
  // CHECK: %[[I:.*]] = linalg.index 1 : index
  // CHECK: arith.index_cast %[[I]] : index to i32
  // CHECK: arith.cmpi eq
  %i = mp.iota dim(1) : tensor<4x8xi32>
  %0 = mp.compare eq %i, %y : tensor<4x8xi32>, tensor<4x1xi32>
  return %0 : tensor<4x8xi1>
}

// An anchor stays, with the stages after it in its shape.
// CHECK-LABEL: @anchor
func.func @anchor(%x: tensor<4x8xf16>, %w: tensor<2x8xf16>) -> tensor<4x2xf16> {
  // CHECK: %[[Y:.*]] = mp.linear %{{.*}} : tensor<4x8xf16>, tensor<2x8xf16>
  // CHECK: linalg.generic {{.*}} ins(%[[Y]] : tensor<4x2xf16>)
  // CHECK: arith.maximumf %{{.*}} : f32
  %0 = mp.linear %x, %w : tensor<4x8xf16>, tensor<2x8xf16>
  %1 = mp.relu %0 : tensor<4x2xf16>
  return %1 : tensor<4x2xf16>
}

// Functions become arithmetic, the same for every target.
// CHECK-LABEL: @functions
func.func @functions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: math.exp
  // CHECK: return
  %0 = mp.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An exponential that is rounded to 16 bits takes fewer steps: three coefficients for bf16.
// CHECK-LABEL: @narrow_exp
func.func @narrow_exp(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK-COUNT-5: math.fma
  // CHECK-NOT: math.fma
  // CHECK: arith.truncf
  %0 = mp.exp %x : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// A mask for all heads has the rows of a sample, and one for all samples those of a head.
// MASKS-DAG: #[[$SAMPLE:.*]] = affine_map<(d0, d1) -> (d0 floordiv 12, d1)>
// MASKS-DAG: #[[$HEAD:.*]] = affine_map<(d0, d1) -> (d0 mod 12, d1)>
// MASKS-LABEL: @masks
func.func @masks(%x: tensor<2x3x4x16xf32>, %a: tensor<2x1x1x16xf32>, %b: tensor<1x3x4x16xf32>)
    -> tensor<2x3x4x16xf32> {
  // MASKS: linalg.generic {indexing_maps = [#{{.*}}, #[[$SAMPLE]], #{{.*}}], {{.*}} ins(%{{.*}} : tensor<24x16xf32>, tensor<2x16xf32>)
  // MASKS: linalg.generic {indexing_maps = [#{{.*}}, #[[$HEAD]], #{{.*}}], {{.*}} ins(%{{.*}} : tensor<24x16xf32>, tensor<12x16xf32>)
  %0 = mp.add %x, %a : tensor<2x3x4x16xf32>, tensor<2x1x1x16xf32>
  %1 = mp.add %0, %b : tensor<2x3x4x16xf32>, tensor<1x3x4x16xf32>
  return %1 : tensor<2x3x4x16xf32>
}

// A constant that is summed has a stage, for the sum to run over.
// CHECK-LABEL: @constant_sum
func.func @constant_sum(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  // CHECK: %[[C:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4xf32>)
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.constant 2.000000e+00 : f32
  // CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[C]] : tensor<4xf32>)
  %c = mp.constant dense<2.0> : tensor<4xf32>
  %0 = mp.sum %c dims[0] : tensor<4xf32>
  return %x, %0 : tensor<4xf32>, tensor<f32>
}

// A number stays one in another shape.
// CHECK-LABEL: @constant_reshape
func.func @constant_reshape(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4x8xf32>)
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.constant 2.000000e+00 : f32
  // CHECK-NEXT: arith.mulf
  %c = mp.constant dense<2.0> : tensor<8xf32>
  %r = mp.reshape %c : tensor<8xf32> to tensor<1x8xf32>
  %0 = mp.mul %x, %r : tensor<4x8xf32>, tensor<1x8xf32>
  return %0 : tensor<4x8xf32>
}

// After an anchor dimensions stay: of a row of columns, of a number, of sums of columns.
// CHECK-LABEL: @after
func.func @after(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %b: tensor<2xf32>, %s: tensor<f32>)
    -> (tensor<4x2xf32>, tensor<2xf32>, tensor<f32>) {
  // CHECK: %[[Y:.*]] = mp.linear
  // CHECK: %[[A:.*]] = linalg.generic {indexing_maps = [#[[$ALL:.*]], #[[$ROW:.*]], #[[$ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[Y]], %{{.*}} : tensor<4x2xf32>, tensor<2xf32>)
  // CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$NONE:.*]], #[[$ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[A]], %{{.*}} : tensor<4x2xf32>, tensor<f32>)
  // CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]]], iterator_types = ["reduction", "parallel"]} ins(%[[M]] : tensor<4x2xf32>)
  // CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$NONE]]], iterator_types = ["reduction", "reduction"]} ins(%[[M]] : tensor<4x2xf32>)
  %0 = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %1 = mp.add %0, %b : tensor<4x2xf32>, tensor<2xf32>
  %2 = mp.mul %1, %s : tensor<4x2xf32>, tensor<f32>
  %3 = mp.sum %2 dims[0] : tensor<4x2xf32>
  %4 = mp.sum %2 dims[0, 1] : tensor<4x2xf32>
  return %2, %3, %4 : tensor<4x2xf32>, tensor<2xf32>, tensor<f32>
}

// After an anchor, too, stages see integers without a sign.
// CHECK-LABEL: @unsigned_after
func.func @unsigned_after(%x: tensor<4x8xf16>, %w: tensor<2x8xf16>, %n: tensor<4x2xui8>) -> tensor<4x2xf16> {
  // CHECK: mp.kernel{{.*}} tensor<4x2xui8> as tensor<4x2xi8>
  // CHECK: mp.linear
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4x2xi8>)
  // CHECK: arith.uitofp %{{.*}} : i8 to f32
  %0 = mp.linear %x, %w : tensor<4x8xf16>, tensor<2x8xf16>
  %1 = mp.cast %n : tensor<4x2xui8> to tensor<4x2xf16>
  %2 = mp.add %0, %1 : tensor<4x2xf16>, tensor<4x2xf16>
  return %2 : tensor<4x2xf16>
}
