// RUN: mp-opt %s -mp-autocast='dtype=f16 explain=%t.json' -o /dev/null && FileCheck %s --check-prefix=EAGER <%t.json
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=tf-fp16 explain=%t.json' -o /dev/null && FileCheck %s --check-prefix=COLOUR <%t.json
// RUN: mp-opt %s -mp-autocast='dtype=f16 explain=-' | FileCheck %s --check-prefix=BOTH
// RUN: not mp-opt %s -mp-autocast='dtype=f16 explain=%t/none/x.json' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PATH

// Both are read from one stream.
// BOTH: "cast_bytes": 456,
// BOTH: func.func @f

// EAGER: "cast_bytes": 456,
// EAGER-NEXT: "casts": 3,
// EAGER-NEXT: "function": "f",
// EAGER: "bytes": 96,
// EAGER-NEXT: "from": "f32",
// EAGER-NEXT: "operand": 0,
// EAGER-NEXT: "shared": false,
// EAGER-NEXT: "to": "f16"
// EAGER: "category": "allow",
// EAGER-NEXT: "op": "mp.linear",
// EAGER-NEXT: "runs_in": "f16",
// EAGER-NEXT: "source": "{{.*}}mp-autocast-explain.mlir:[[@LINE+14]]:8",
// EAGER-NEXT: "why": "listed under allow as \"linear\""
// EAGER: "op": "mp.relu",
// EAGER: "why": "not listed, so native"
// EAGER: "category": "result",
// EAGER: "why": "listed under result as \"softmax\""

// COLOUR: "op": "mp.relu",
// COLOUR-NEXT: "runs_in": "f16",
// COLOUR: "why": "listed under clear as \"Relu\", beside ops that run low"
// COLOUR: "op": "mp.softmax",
// COLOUR-NEXT: "runs_in": "f32",
// PATH: error: cannot write {{.*}}x.json: No such file or directory
func.func @f(%x: tensor<2x8xf32>, %w: tensor<6x8xf32>) -> tensor<2x6xf32> {
  %0 = mp.linear %x, %w : tensor<2x8xf32>, tensor<6x8xf32>
  %1 = mp.relu %0 : tensor<2x6xf32>
  %2 = mp.softmax %1 dim(1) : tensor<2x6xf32>
  return %2 : tensor<2x6xf32>
}
