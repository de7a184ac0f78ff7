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
