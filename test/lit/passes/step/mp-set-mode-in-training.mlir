// RUN: mp-opt %s -mp-set-mode -canonicalize | FileCheck %s --check-prefix=TRAIN
// RUN: mp-opt %s -mp-set-mode=mode=eval -canonicalize | FileCheck %s --check-prefix=EVAL
// RUN: not mp-opt %s -mp-set-mode -mp-set-mode=mode=eval 2>&1 | FileCheck %s --check-prefix=BACK
// RUN: mp-run run %s --mode=train --input=2 | FileCheck %s --check-prefix=VALUE

// One mode's ops are all that is left. Without a mode, a function trains.
// TRAIN-LABEL: func.func @f
// TRAIN: %[[Y:.*]] = mp.exp
// TRAIN-NEXT: return %[[Y]]
// EVAL-LABEL: func.func @f
// EVAL: %[[Y:.*]] = mp.neg
// EVAL-NEXT: return %[[Y]]
// BACK: error: 'func.func' op trains, and what that replaced does not come back: take the function as it was
// VALUE: 7.389
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %e = mp.exp %x : tensor<f32>
  %n = mp.neg %x : tensor<f32>
  // The operand of another one.
  %i = mp.in_training %x, %n : tensor<f32>, tensor<f32>
  %r = mp.in_training %e, %i : tensor<f32>, tensor<f32>
  return %r : tensor<f32>
}
