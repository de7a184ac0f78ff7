// RUN: mp-opt %s -split-input-file -mp-place-casts | FileCheck %s -enable-var-scope
// RUN: mp-opt %s -split-input-file -mp-place-casts -o %t.once
// RUN: mp-opt %t.once -split-input-file -mp-place-casts | diff %t.once -

// A copy of fewer elements is cast, not its operand.
// CHECK-LABEL: @sink
func.func @sink(%x: tensor<4x8xf32>) -> (tensor<4x2xf16>, tensor<4x3xf16>) {
  // CHECK-NEXT: %[[A:.+]] = mp.slice %{{.*}} : tensor<4x8xf32>
  // CHECK-NEXT: %[[B:.+]] = mp.cast %[[A]] : tensor<4x2xf32> to tensor<4x2xf16>
  // CHECK-NEXT: mp.slice %{{.*}} : tensor<4x8xf32>
  // CHECK-NEXT: mp.cast %{{.*}} : tensor<4x3xf32> to tensor<4x3xf16>
  %0 = mp.cast %x : tensor<4x8xf32> to tensor<4x8xf16>
  %1 = mp.slice %0 offsets[0, 0] sizes[4, 2] : tensor<4x8xf16>
  %2 = mp.slice %0 offsets[0, 0] sizes[4, 3] : tensor<4x8xf16>
  return %1, %2 : tensor<4x2xf16>, tensor<4x3xf16>
}

// -----

// Both together would be larger than the whole.
// CHECK-LABEL: @stay
func.func @stay(%x: tensor<4x8xf32>) -> (tensor<4x5xf16>, tensor<4x4xf16>) {
  // CHECK-NEXT: mp.cast %{{.*}} : tensor<4x8xf32> to tensor<4x8xf16>
  // CHECK-NOT: mp.cast
  %0 = mp.cast %x : tensor<4x8xf32> to tensor<4x8xf16>
  %1 = mp.slice %0 offsets[0, 0] sizes[4, 5] : tensor<4x8xf16>
  %2 = mp.slice %0 offsets[0, 0] sizes[4, 4] : tensor<4x8xf16>
  return %1, %2 : tensor<4x5xf16>, tensor<4x4xf16>
}

// -----

// One row is cast rather than all its copies; an existing cast serves another form of
// the same elements.
// CHECK-LABEL: @hoist
func.func @hoist(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf16>, tensor<4x8xf16>, tensor<8x4xf16>) {
  // CHECK-NEXT: %[[Y:.+]] = mp.cast %arg1 : tensor<4x8xf32> to tensor<4x8xf16>
  // CHECK-NEXT: %[[X:.+]] = mp.cast %arg0 : tensor<8xf32> to tensor<8xf16>
  // CHECK-NEXT: %[[B:.+]] = mp.broadcast %[[X]] : tensor<8xf16> to tensor<4x8xf16>
  // CHECK-NEXT: %[[T:.+]] = mp.transpose %[[Y]] [1, 0] : tensor<4x8xf16>
  // CHECK-NEXT: return %[[B]], %[[Y]], %[[T]]
  %0 = mp.cast %y : tensor<4x8xf32> to tensor<4x8xf16>
  %1 = mp.broadcast %x : tensor<8xf32> to tensor<4x8xf32>
  %2 = mp.cast %1 : tensor<4x8xf32> to tensor<4x8xf16>
  %3 = mp.transpose %y [1, 0] : tensor<4x8xf32>
  %4 = mp.cast %3 : tensor<8x4xf32> to tensor<8x4xf16>
  return %2, %0, %4 : tensor<4x8xf16>, tensor<4x8xf16>, tensor<8x4xf16>
}

// -----

// An op that reads the wide form too keeps it.
// CHECK-LABEL: @both
func.func @both(%x: tensor<8xf32>) -> (tensor<4x8xf16>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[B:.+]] = mp.broadcast %{{.*}} : tensor<8xf32> to tensor<4x8xf32>
  // CHECK-NEXT: mp.cast %[[B]]
  %0 = mp.broadcast %x : tensor<8xf32> to tensor<4x8xf32>
  %1 = mp.cast %0 : tensor<4x8xf32> to tensor<4x8xf16>
  return %1, %0 : tensor<4x8xf16>, tensor<4x8xf32>
}

// -----

// 16 bits outside, f32 inside: an op and a norm between casts from f16 and back.
// CHECK-LABEL: @inside
func.func @inside(%x: tensor<4x8xf16>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf16>, tensor<4x1xf32>) {
  // CHECK-NEXT: %[[E:.+]] = mp.exp %{{.*}} : tensor<4x8xf16>
  // CHECK-NEXT: %[[Y:.+]], %[[MEAN:.+]], %{{.*}} = mp.layer_norm %[[E]]
  // CHECK-NEXT: return %[[Y]], %[[MEAN]] : tensor<4x8xf16>, tensor<4x1xf32>
  %0 = mp.cast %x : tensor<4x8xf16> to tensor<4x8xf32>
  %1 = mp.exp %0 : tensor<4x8xf32>
  %2 = mp.cast %1 : tensor<4x8xf32> to tensor<4x8xf16>
  %3 = mp.cast %2 : tensor<4x8xf16> to tensor<4x8xf32>
  %y, %mean, %rstd = mp.layer_norm %3 weight(%g : tensor<8xf32>) bias(%b : tensor<8xf32>) : tensor<4x8xf32>
  %4 = mp.cast %y : tensor<4x8xf32> to tensor<4x8xf16>
  return %4, %mean : tensor<4x8xf16>, tensor<4x1xf32>
}

// -----

// A single cast that is both operands is removed once.
// CHECK-LABEL: @square
func.func @square(%x: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK-NEXT: %[[Y:.+]] = mp.mul %[[X:.+]], %[[X]] : tensor<4xf16>, tensor<4xf16>
  // CHECK-NEXT: return %[[Y]]
  %0 = mp.cast %x : tensor<4xf16> to tensor<4xf32>
  %1 = mp.mul %0, %0 : tensor<4xf32>, tensor<4xf32>
  %2 = mp.cast %1 : tensor<4xf32> to tensor<4xf16>
  return %2 : tensor<4xf16>
}

// -----

// Between casts from f16 and to bf16 an op runs in neither; and f32 that never was
// f16 stays f32.
// CHECK-LABEL: @other
func.func @other(%x: tensor<4xf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf16>) {
  // CHECK: mp.exp %{{.*}} : tensor<4xf32>
  // CHECK: mp.mul %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %0 = mp.cast %x : tensor<4xf16> to tensor<4xf32>
  %1 = mp.exp %0 : tensor<4xf32>
  %2 = mp.cast %1 : tensor<4xf32> to tensor<4xbf16>
  %3 = mp.mul %0, %y : tensor<4xf32>, tensor<4xf32>
  %4 = mp.cast %3 : tensor<4xf32> to tensor<4xf16>
  return %2, %4 : tensor<4xbf16>, tensor<4xf16>
}

// -----

// A comparison has no result to round, and reads the values before widening.
// CHECK-LABEL: @flags
func.func @flags(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xi1> {
  // CHECK-NEXT: mp.compare gt %{{.*}}, %{{.*}} : tensor<4xf16>, tensor<4xf16>
  %0 = mp.cast %x : tensor<4xf16> to tensor<4xf32>
  %1 = mp.cast %y : tensor<4xf16> to tensor<4xf32>
  %2 = mp.compare gt %0, %1 : tensor<4xf32>, tensor<4xf32>
  return %2 : tensor<4xi1>
}

// -----

// A cast that becomes unused in a shorter chain cannot be shared.
// CHECK-LABEL: @gone
func.func @gone(%x: tensor<4xf16>) -> (tensor<4xbf16>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.+]] = mp.cast %{{.*}} : tensor<4xf16> to tensor<4xbf16>
  // CHECK-NEXT: %[[B:.+]] = mp.cast %{{.*}} : tensor<4xf16> to tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = mp.cast %x : tensor<4xf16> to tensor<4xf32>
  %1 = mp.cast %0 : tensor<4xf32> to tensor<4xbf16>
  %2 = mp.cast %x : tensor<4xf16> to tensor<4xf32>
  return %1, %2 : tensor<4xbf16>, tensor<4xf32>
}

// -----

// A chain that begins by widening is as short as its end; one that rounds in between
// still rounds.
// CHECK-LABEL: @chains
func.func @chains(%x: tensor<4xf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>, tensor<4xbf16>) {
  // CHECK-NEXT: %[[A:.+]] = mp.cast %{{.*}} : tensor<4xf16> to tensor<4xbf16>
  // CHECK-NEXT: %[[B:.+]] = mp.cast %{{.*}} : tensor<4xf32> to tensor<4xf16>
  // CHECK-NEXT: %[[C:.+]] = mp.cast %[[B]] : tensor<4xf16> to tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[C]], %[[A]]
  %0 = mp.cast %x : tensor<4xf16> to tensor<4xf32>
  %1 = mp.cast %0 : tensor<4xf32> to tensor<4xbf16>
  %2 = mp.cast %y : tensor<4xf32> to tensor<4xf16>
  %3 = mp.cast %2 : tensor<4xf16> to tensor<4xf32>
  %4 = mp.cast %x : tensor<4xf16> to tensor<4xbf16>
  return %1, %3, %4 : tensor<4xbf16>, tensor<4xf32>, tensor<4xbf16>
}

// -----

// The 16-bit copy of a parameter costs a step nothing, and stands after its read.
mp.variable @w : tensor<8x4xf32> = #mp.init<zeros>
// CHECK-LABEL: @parameter
func.func @parameter() -> (tensor<4x8xf16>, tensor<2x4xf16>) {
  // CHECK-NEXT: %[[W:.+]] = mp.read @w
  // CHECK-NEXT: %[[H:.+]] = mp.cast %[[W]] : tensor<8x4xf32> to tensor<8x4xf16>
  // CHECK-NEXT: mp.slice %[[H]]
  // CHECK-NEXT: mp.transpose %[[H]]
  %0 = mp.read @w : tensor<8x4xf32>
  %1 = mp.cast %0 : tensor<8x4xf32> to tensor<8x4xf16>
  %2 = mp.slice %1 offsets[0, 0] sizes[2, 4] : tensor<8x4xf16>
  %3 = mp.transpose %0 [1, 0] : tensor<8x4xf32>
  %4 = mp.cast %3 : tensor<4x8xf32> to tensor<4x8xf16>
  return %4, %2 : tensor<4x8xf16>, tensor<2x4xf16>
}

// -----

// Zeros around elements are zeros in any type; ones and a tenth may differ.
// CHECK-LABEL: @pad
func.func @pad(%x: tensor<8xf32>) -> (tensor<16xf16>, tensor<16xf16>) {
  // CHECK-NEXT: %[[X:.+]] = mp.cast %{{.*}} : tensor<8xf32> to tensor<8xf16>
  // CHECK-NEXT: mp.pad %[[X]] low[4] high[4] : tensor<8xf16>
  // CHECK-NEXT: mp.pad %{{.*}} : tensor<8xf32>
  // CHECK-NEXT: mp.cast %{{.*}} : tensor<16xf32> to tensor<16xf16>
  %0 = mp.pad %x low[4] high[4] : tensor<8xf32>
  %1 = mp.cast %0 : tensor<16xf32> to tensor<16xf16>
  %2 = mp.pad %x low[4] high[4] value(0.1) : tensor<8xf32>
  %3 = mp.cast %2 : tensor<16xf32> to tensor<16xf16>
  return %1, %3 : tensor<16xf16>, tensor<16xf16>
}

// -----

// What is joined is cast by what computes it.
// CHECK-LABEL: @join
func.func @join(%x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> tensor<4x10xf16> {
  // CHECK-DAG: %[[X:.+]] = mp.cast %{{.*}} : tensor<4x8xf32> to tensor<4x8xf16>
  // CHECK-DAG: %[[Y:.+]] = mp.cast %{{.*}} : tensor<4x2xf32> to tensor<4x2xf16>
  // CHECK: mp.concat %[[X]], %[[Y]] dim(1) : tensor<4x8xf16>, tensor<4x2xf16>
  // CHECK-NEXT: return
  %0 = mp.exp %x : tensor<4x8xf32>
  %1 = mp.exp %y : tensor<4x2xf32>
  %2 = mp.concat %0, %1 dim(1) : tensor<4x8xf32>, tensor<4x2xf32>
  %3 = mp.cast %2 : tensor<4x10xf32> to tensor<4x10xf16>
  return %3 : tensor<4x10xf16>
}
