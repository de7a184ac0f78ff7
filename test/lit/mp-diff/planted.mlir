// Two policies that differ in one of two ops of a kind: the op is named, by number, name and line, forward and backward.
// RUN: mp-diff %s --policy @plain --policy @planted --device cpu --batch 4 --steps 1 --warmup 0 --tolerance 1e-5 --json %t.json | FileCheck %s
// RUN: python3 -c "import json, sys; print(*((op['number'], op['op'], op['source'].split('/')[-1]) for op in json.load(open(sys.argv[1]))['ops'] if len({side['runs_in'] for side in op['policies']}) > 1))" %t.json | FileCheck %s --check-prefix=TYPES
// The same, but the op's own attribute decides, not a policy.
// RUN: sed '21s/ : / {mp.autocast = "low"} : /' %s >%t.mlir
// RUN: mp-diff %t.mlir --policy @plain --device cpu --batch 4 --steps 0 --tolerance 1e-5 | FileCheck %s --check-prefix=WORD
// RUN: not mp-diff %s --policy @planted --device cpu --batch 4 --steps 0 --tolerance 1e-5 --fail-beyond 2>&1 >/dev/null | FileCheck %s --check-prefix=FAIL

mp.policy @plain extends "apex-o0" {allow = ["mp.gelu"]}
mp.policy @planted extends "apex-o0" {allow = ["mp.exp@planted.mlir:21"]}

mp.variable @w : tensor<8x8xf32> = #mp.init<kaiming_uniform>
mp.variable @v : tensor<8x8xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x8xf32>) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<8x8xf32>
  %h = mp.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %t = mp.tanh %h : tensor<?x8xf32>
  %e = mp.exp %t : tensor<?x8xf32>
  %v = mp.read @v : tensor<8x8xf32>
  %s = mp.linear %e, %v : tensor<?x8xf32>, tensor<8x8xf32>
  %p = mp.exp %s : tensor<?x8xf32>
  %l = mp.mean %p dims[0, 1] : tensor<?x8xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = bf16>) {
  mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 1.0e-3>}
}

// CHECK: 7 exp 21:8 | f32 deny {{.*}} | bf16 allow 1 {{[0-9.]+}}e-03 !
// CHECK: bf16:@plain: every op is within the tolerance
// CHECK: bf16:@planted: first beyond the tolerance: #7 mp.exp, error {{[0-9.]+}}e-03
// CHECK-NEXT: planted.mlir:21:8: %p = mp.exp %s
// CHECK-NEXT: computed from #6 linear {{[0-9.]+}}e-08
// CHECK-NEXT: operand 0 is cast from f32 to bf16
// CHECK: bf16:@planted: first gradient beyond it (going backward): #6 mp.linear
// CHECK: computed from the gradients of #7 exp 0
// TYPES: {{^}}(7, 'mp.exp', 'planted.mlir:21:8'){{$}}
// WORD: bf16:@plain: first beyond the tolerance: #7 mp.exp
// WORD-NEXT: :21:8: %p = mp.exp %s {mp.autocast = "low"}
// FAIL: bf16:@planted is beyond its tolerance
