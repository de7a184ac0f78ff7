// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=@mine' | FileCheck %s --check-prefixes=ALL,F16
// RUN: mp-opt %s -mp-autocast='dtype=bf16 policy=@mine' | FileCheck %s --check-prefixes=ALL,BF16
// RUN: mp-opt %s -mp-autocast='dtype=bf16 policy=@mine explain=%t.json' -o /dev/null && FileCheck %s --check-prefix=WHY < %t.json
// RUN: echo '{"extends": "torch", "deny": ["mp.tanh"], "bf16": {"allow": ["mp.exp"]}}' > %t.mine.json
// RUN: mp-run policies %t.mine.json | FileCheck %s --check-prefix=TABLE
// RUN: echo '{"extends": "torch", "bf16": {"alow": ["mp.exp"]}}' > %t.typo.json
// RUN: not mp-run policies %t.typo.json 2>&1 | FileCheck %s --check-prefix=TYPO
// RUN: echo '{"extends": "torch", "bf16": {"allow": ["mp.epx"]}}' > %t.name.json
// RUN: not mp-run policies %t.name.json 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: echo '{"extends": "torch", "storage": {"forward": "f8E4M3"}}' > %t.storage.json
// RUN: not mp-run policies %t.storage.json 2>&1 | FileCheck %s --check-prefix=STORAGE

// Lists for one type override those for all; TensorFlow has some of both kinds. In
// 8-bit storage a contraction is marked, but only one that runs low.
mp.policy @mine extends "torch" {deny = ["mp.tanh"], allow = ["mp.sigmoid"], bf16 = {allow = ["mp.exp", "mp.tanh"]},
                                 storage = #mp.storage<forward = f8E5M2, backward = f8E5M2, margin = 1>}
// ALL-LABEL: @f
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // F16: mp.exp %{{.*}} : tensor<4x4xf32>
  // BF16: mp.exp %{{.*}} : tensor<4x4xbf16>
  %0 = mp.exp %x : tensor<4x4xf32>
  // F16: mp.tanh %{{.*}} : tensor<4x4xf32>
  // BF16: mp.tanh %{{.*}} : tensor<4x4xbf16>
  %1 = mp.tanh %0 : tensor<4x4xf32>
  // ALL: mp.sigmoid %{{.*}}f16>
  %2 = mp.sigmoid %1 : tensor<4x4xf32>
  // ALL: mp.matmul %{{.*}} {mp.storage = #mp.storage<forward = f8E5M2, backward = f8E5M2, margin = 1>}
  %3 = mp.matmul %2, %2 : tensor<4x4xf32>, tensor<4x4xf32>
  // ALL: mp.matmul %{{[^ ]*}}, %{{[^ ]*}} : tensor<4x4xf32>
  %4 = mp.matmul %x, %x {mp.autocast = "f32"} : tensor<4x4xf32>, tensor<4x4xf32>
  %5 = mp.add %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// WHY: "why": "listed under allow as \"mp.exp\" for bf16"
// TABLE: | op | {{.*}}mine.json | {{.*}}mine.json to bf16 |
// TABLE: | `mp.exp` | deny | allow |
// TABLE: | `mp.tanh` | deny | deny |
// TYPO: "alow" under "bf16" is not a category; there are allow, deny
// NAME: unknown op "mp.epx" in a list of ops; did you mean mp.exp
// STORAGE: "storage" is {"forward": an 8-bit type, "backward": another, "amax_history": steps, "margin": an exponent}; the types are f8E4M3FN and f8E5M2
