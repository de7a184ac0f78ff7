// RUN: mp-opt %s -mp-set-mode | FileCheck %s --check-prefix=TRAIN
// RUN: mp-opt %s -mp-set-mode=mode=eval -mp-set-mode=mode=eval | FileCheck %s --check-prefix=EVAL
// RUN: not mp-opt %s -mp-set-mode=mode=test 2>&1 | FileCheck %s --check-prefix=BAD

// TRAIN: func.func @f() attributes {mp.mode = "train"}
// EVAL: func.func @f() attributes {mp.mode = "eval"}
// BAD: error: mode is "test", expected train or eval
func.func @f() {
  return
}

// TRAIN: func.func private @declared() attributes {mp.mode = "train"}
func.func private @declared()

// Dropout is removed if a function evaluates; random numbers stay.
// TRAIN-LABEL: @dropout
// TRAIN: mp.dropout
// EVAL-LABEL: @dropout
// EVAL-SAME: (%[[X:.*]]: tensor<4xf32>
// EVAL-NEXT: %[[R:.*]] = mp.uniform
// EVAL-NEXT: return %[[X]], %[[R]]
func.func @dropout(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = mp.dropout %x {p = 0.1} : tensor<4xf32>
  %1 = mp.uniform : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Ops of a time step that nothing reads go, and what the scan ran over for them.
// EVAL-LABEL: @unused
func.func @unused(%h: tensor<4xf32>, %xs: tensor<3x4xf32>) -> tensor<4xf32> {
  // EVAL: mp.scan carried(%{{.*}} = %arg0 : tensor<4xf32>) length(3) -> tensor<4xf32>
  // EVAL-NEXT: mp.tanh
  // EVAL-NEXT: mp.yield
  %r = mp.scan carried(%s = %h : tensor<4xf32>) over(%x = %xs : tensor<3x4xf32>) -> tensor<4xf32> {
    %a = mp.exp %x : tensor<4xf32>
    %b = mp.mul %a, %s : tensor<4xf32>, tensor<4xf32>
    %c = mp.neg %b : tensor<4xf32>
    %t = mp.tanh %s : tensor<4xf32>
    mp.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
