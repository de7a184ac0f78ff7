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
