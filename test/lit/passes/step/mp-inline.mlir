// RUN: mp-opt %s --mp-inline --mp-inline | FileCheck %s
// RUN: mp-opt %s --mp-inline --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=PLACE
// RUN: mp-opt %s --mp-inline --mp-number-streams | FileCheck %s --check-prefix=STREAM
// RUN: mp-opt %s --mp-inline --mp-set-mode --mp-specialize=batch=4 --mp-autocast=dtype=f16 | FileCheck %s --check-prefix=CAST

mp.variable @w : tensor<4x4xf32> = #mp.init<zeros>

// A private function that is called is erased; a public one, or a private one
// that is not called, stays.
// CHECK-NOT: @layer
// CHECK-NOT: @net
func.func private @layer(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %w = mp.read @w : tensor<4x4xf32>
  %y = mp.linear %x, %w : tensor<?x4xf32>, tensor<4x4xf32>
  return %y : tensor<?x4xf32>
}
func.func private @net(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %h = call @layer(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = call @layer(%h) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y, %h : tensor<?x4xf32>, tensor<?x4xf32>
}
// CHECK-LABEL: func.func private @alone
func.func private @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// A callee's results come in their order, and callees have theirs inlined first.
// CHECK-LABEL: @loss
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>)
// CHECK: %[[H:.*]] = mp.linear %[[X]],
// CHECK: %[[Y:.*]] = mp.linear %[[H]],
// CHECK: mp.sub %[[Y]], %[[H]]
// CHECK-NOT: call
// PLACE-LABEL: @loss
// The line of the op, then those of the calls.
// PLACE: mp.linear {{.*}} loc(callsite("{{.*}}mp-inline.mlir":14:8 at callsite("{{.*}}mp-inline.mlir":18:8 at "{{.*}}mp-inline.mlir":[[#@LINE + 3]]:12)))
// PLACE: mp.linear {{.*}} loc(callsite("{{.*}}mp-inline.mlir":14:8 at callsite("{{.*}}mp-inline.mlir":19:8
func.func @loss(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y, %h = call @net(%x) : (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %d = mp.sub %y, %h : tensor<?x4xf32>, tensor<?x4xf32>
  return %d : tensor<?x4xf32>
}

// Public functions that are called stay, and have calls of their own inlined.
// CHECK-LABEL: @predict
// CHECK: mp.linear
// CHECK: mp.linear
func.func @predict(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y, %h = call @net(%x) : (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
  return %y : tensor<?x4xf32>
}
// CHECK-LABEL: @shown
// CHECK: mp.linear
// CHECK: mp.linear
// CHECK-NEXT: mp.relu
func.func @shown(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = call @predict(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = mp.relu %y : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// Ops in a region run by the region's settings.
// CAST-LABEL: @region
// CAST: mp.linear {{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
// CAST: mp.linear {{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
func.func @region(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %a = mp.autocast enabled(false) {
    %1 = func.call @layer(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    mp.yield %1 : tensor<?x4xf32>
  } : tensor<?x4xf32>
  %b = call @layer(%a) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %b : tensor<?x4xf32>
}

// A written stream is the first copy's; the others get their own, forward and
// backward one together.
func.func private @noise(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = mp.dropout %x stream(0) {p = 0.1} : tensor<4xf32>
  %b = mp.dropout_backward %a stream(0) {p = 0.1} : tensor<4xf32>
  %c = mp.dropout %b {p = 0.1} : tensor<4xf32>
  return %c : tensor<4xf32>
}
// STREAM-LABEL: @streams
// STREAM: mp.dropout {{.*}} stream(0)
// STREAM: mp.dropout_backward {{.*}} stream(0)
// STREAM: mp.dropout {{.*}} stream([[A:[0-9]+]])
// STREAM: mp.dropout {{.*}} stream([[B:[0-9]+]])
// STREAM: mp.dropout_backward {{.*}} stream([[B]])
// STREAM-NOT: stream([[A]])
// STREAM-NOT: stream([[B]])
// STREAM: mp.dropout
// STREAM: return
func.func @streams(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = call @noise(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = call @noise(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// The function is differentiated with respect to one argument, whatever the other one is.
func.func private @slope(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %p = mp.mul %x, %y : tensor<4xf32>, tensor<4xf32>
  %s = mp.sum %p dims[0] : tensor<4xf32>
  %d = mp.gradient %s of %x : tensor<f32>, tensor<4xf32>
  return %d : tensor<4xf32>
}
// CHECK-LABEL: @twice
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[OWN:.*]] = mp.scale_gradient %[[X]] by 0
// CHECK: mp.mul %[[OWN]], %[[X]]
// CHECK: mp.gradient %{{.*}} of %[[OWN]]
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %d = call @slope(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
