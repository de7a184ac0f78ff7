// A list may name one op: by its line, its line and column, or the name of its location. That overrides its kind.
// RUN: mp-opt %s '-mp-autocast=dtype=f16 policy=@mine' 2>&1 | FileCheck %s
// RUN: mp-opt %s '-mp-autocast=dtype=f16 policy=@exact' 2>&1 | FileCheck %s --check-prefix=EXACT --implicit-check-not=warning
// RUN: mp-opt %s '-mp-autocast=dtype=f16 policy=@exact deny=mp.exp@mp-autocast-places.mlir:28' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: mp-opt %s '-mp-autocast=dtype=f16 policy=@exact explain=%t.json' -o /dev/null && FileCheck %s --check-prefix=WHY --input-file=%t.json
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 policy=@exact deny=mp.epx@gate' 2>&1 | FileCheck %s --check-prefix=TYPO
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 policy=@exact deny=exp@gate' 2>&1 | FileCheck %s --check-prefix=SYSTEM
// RUN: mp-opt %s '-mp-set-mode=mode=eval' '-mp-autocast=dtype=f16 policy=@mine' 2>&1 | FileCheck %s --check-prefix=EVAL --implicit-check-not=warning

// The list names an op that existed when it was written.
mp.policy @mine extends "torch" {allow = ["mp.exp@mp-autocast-places.mlir:28", "mp.exp@mp-autocast-places.mlir:9"]}
mp.policy @exact extends "torch" {allow = ["mp.exp@mp-autocast-places.mlir:28:8", "mp.log@gate"], deny = ["mp.exp"]}

// CHECK: mp-autocast-places.mlir:19:1: warning: policy @mine lists "mp.exp@mp-autocast-places.mlir:9", and no such op is there: the line may have changed
// CHECK-LABEL: func.func @f
// EXACT-LABEL: func.func @f
// OPTION-LABEL: func.func @f
// EVAL-LABEL: func.func @f
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: mp.exp %{{.*}} : tensor<4xf16>
  // CHECK: mp.exp %{{.*}} : tensor<4xf32>
  // EXACT: mp.exp %{{.*}} : tensor<4xf16>
  // EXACT: mp.exp %{{.*}} : tensor<4xf32>
  // EXACT: mp.log %{{.*}} : tensor<4xf16>
  // OPTION: mp.exp %{{.*}} : tensor<4xf32>
  // OPTION: mp.exp %{{.*}} : tensor<4xf32>
  // WHY: listed under allow as \"mp.exp@mp-autocast-places.mlir:28:8\"
  %y = mp.exp %x : tensor<4xf32>
  %z = mp.exp %y : tensor<4xf32>
  %l = mp.log %x : tensor<4xf32> loc("gate")
  return %y, %z, %l : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// TYPO: unknown op "mp.epx@gate" in a list of ops; did you mean mp.exp
// SYSTEM: unknown op "exp@gate" in a list of ops
