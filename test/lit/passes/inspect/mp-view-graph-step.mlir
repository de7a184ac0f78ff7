// A training step: its phases, and its kernels before and after they are lowered.
// RUN: mp-opt %s --mp-autodiff --mp-loss-scale --mp-optimizer --mp-view-graph="file=%t.dot function=step" -o /dev/null
// RUN: FileCheck %s <%t.dot
// A phase in which all is new is marked, and not its nodes. A recipe's name stands for its function before there is a step.
// RUN: mp-opt %s --mp-view-graph="file=%t.2.dot passes=mp-autodiff function=step" -o /dev/null
// RUN: FileCheck %s --check-prefix=NEW <%t.2.dot
// RUN: mp-opt %s --mp-autodiff --mp-fuse --mp-view-graph="file=%t.3.dot function=step" -o /dev/null
// RUN: FileCheck %s --check-prefix=FUSED <%t.3.dot
// RUN: mp-opt %s --mp-train-pipeline --mp-view-graph="file=%t.4.dot function=step" -o /dev/null
// RUN: FileCheck %s --check-prefix=LOWERED --implicit-check-not='label="tensor.empty' --implicit-check-not='label="mulf' <%t.4.dot
// RUN: mp-opt %s --mp-train-pipeline --mp-view-graph="file=%t.5.dot function=step stages=true" -o /dev/null
// RUN: FileCheck %s --check-prefix=STAGES --implicit-check-not='label="tensor.empty' <%t.5.dot

mp.variable @w : tensor<2x3xf32> = #mp.init<ones>
func.func @loss(%x: tensor<4x3xf32> {mp.name = "x"}, %label: tensor<4xui8>) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<2x3xf32>
  %y = mp.linear %x, %w : tensor<4x3xf32>, tensor<2x3xf32>
  %loss = mp.cross_entropy %y, %label : tensor<4x2xf32>, tensor<4xui8>
  return %loss : tensor<f32>
}
mp.scaler @scaler {preset = "torch"}
mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>} }

// CHECK: label="@step";
// CHECK: label="forward";
// CHECK-NEXT: style=dashed;
// CHECK: label="x\n4x3xf32"
// CHECK: label="w\n2x3xf32"
// CHECK: label="linear\n4x2xf32"
// A result is drawn beside its maker.
// CHECK: label="loss\nf32", shape=house
// CHECK: label="backward";
// CHECK: label="cross_entropy_backward
// CHECK: label="matmul\n2x3xf32"
// CHECK: label="update";
// CHECK: label="sgd\n2x3xf32"
// CHECK: label="write w\n2x3xf32", shape=cylinder

// NEW: label="before";
// NEW: label="@loss";
// NEW: label="after";
// NEW: label="@step";
// NEW: label="forward";
// NEW-NOT: xlabel
// NEW: label="backward (new)";
// NEW-NOT: xlabel
// NEW: n6 -> n

// FUSED: label="@step";
// FUSED: label="kernel of linear";
// FUSED-NEXT: style=rounded;
// FUSED-NEXT: [[LINEAR:n[0-9]+]] [label="linear\n4x2xf32", shape=box
// Edges join the ops inside kernels.
// FUSED: n0 -> [[LINEAR]] [label="4x3xf32"];
// FUSED: [[LINEAR]] -> n

// LOWERED: label="@step";
// LOWERED: shape=component
// STAGES: label="@step";
// STAGES: label="mulf
