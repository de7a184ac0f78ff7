// A pass that fails leaves its input module and the command that runs it again.

// RUN: rm -rf %t && mkdir -p %t && cd %t
// RUN: not mp-run plan %s --batch 4 --device cpu --reproducer run.mlir 2>&1 | FileCheck %s --check-prefixes=ERROR,PLAN
// RUN: not mp-translate --mp-to-program --mp-batch=4 --mp-reproducer=translate.mlir %s 2>&1 | FileCheck %s --check-prefixes=ERROR,TRANSLATE
// RUN: not mp-opt %s --mp-train-pipeline=batch=4 --mlir-pass-pipeline-crash-reproducer=opt.mlir 2>&1 | FileCheck %s --check-prefixes=ERROR,OPT
// ERROR: :[[@LINE+27]]:1: error: 'mp.train' op has nothing to train
// PLAN: note: Pipeline failed while executing `Autodiff` {{.*}} `run.mlir`, rerun with `mp-opt --run-reproducer run.mlir`
// TRANSLATE: rerun with `mp-opt --run-reproducer translate.mlir`
// OPT: reproducer generated at `opt.mlir`

// RUN: FileCheck %s --check-prefix=FILE < run.mlir
// FILE: // mp-opt --run-reproducer run.mlir
// FILE: func.func @loss(%{{.*}}: tensor<4x3xf32>) -> tensor<f32> attributes {mp.mode = "train"}
// FILE: pipeline: "builtin.module(mp-autodiff{function=})"

// RUN: not mp-opt --run-reproducer run.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not mp-opt --run-reproducer translate.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not mp-opt --run-reproducer opt.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: 'mp.train' op has nothing to train

// If the file cannot be written, the pass's error remains.
// RUN: not mp-run plan %s --batch 4 --device cpu --reproducer /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: warning: cannot write the reproducer /dev/full: No space left on device
// FULL: error: 'mp.train' op has nothing to train

module @untrainable {
mp.variable @w : tensor<3xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x3xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<3xf32>
  %loss = mp.sum %x dims[0, 1] : tensor<?x3xf32>
  return %loss : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
}
