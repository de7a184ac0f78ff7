// RUN: mp-opt %s --mp-autodiff --mp-recompute=recompute=384 | FileCheck %s --check-prefix=ENOUGH --implicit-check-not=mp.recompute_barrier
// RUN: mp-opt %s --mp-autodiff --mp-recompute=recompute=0.25KiB | FileCheck %s --check-prefix=CHEAP
// RUN: mp-opt %s --mp-autodiff --mp-recompute=recompute=320 2>&1 | FileCheck %s --check-prefix=CHEAP
// RUN: not mp-opt %s --mp-autodiff --mp-recompute=recompute=64 2>&1 | FileCheck %s --check-prefix=LITTLE
// RUN: not mp-opt %s --mp-recompute=recompute=all 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not mp-opt %s --mp-autodiff --mp-recompute=recompute=64MB 2>&1 | FileCheck %s --check-prefix=WORD

// Three values of 128 bytes: both exponentials and the dropout.
// ENOUGH: mp.seed

// The dropout saves its bytes; an exponential would need its operand kept.
// CHEAP: func.func @step
// CHEAP: mp.seed
// CHEAP-NOT: mp.linear
// CHEAP: %[[B:.*]] = mp.recompute_barrier
// CHEAP-NEXT: mp.dropout %[[B]] stream(7)
// CHEAP-NOT: mp.recompute_barrier
// CHEAP: return

// LITTLE: mp-recompute-budget.mlir:[[#@LINE+6]]:1: error: 'func.func' op cannot keep 64 bytes or less for backward: it keeps 384, and computing again reaches 256
// EARLY: error: 'mp.train' op has no step yet: run mp-autodiff before mp-recompute
// WORD: error: "64MB" does not say what is kept for backward, expected marked, all or a size such as 64MiB

mp.variable @w : tensor<4x4xf32> = #mp.init<zeros>
mp.variable @v : tensor<4x4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<8x4xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x4xf32>
  %v = mp.read @v : tensor<4x4xf32>
  %h = mp.linear %x, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %a = mp.exp %h : tensor<8x4xf32>
  %d = mp.dropout %a stream(7) : tensor<8x4xf32>
  %k = mp.linear %d, %v : tensor<8x4xf32>, tensor<4x4xf32>
  %e = mp.exp %k : tensor<8x4xf32>
  %l = mp.mean %e dims[0, 1] : tensor<8x4xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
