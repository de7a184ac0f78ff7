// exp(12) is 162755: too large for f16. The first op that is reported is the exponential, not the logarithm after it.
// RUN: mp-diff %s --policy torch --device cpu --steps 0 | FileCheck %s
// RUN: mp-diff %s --policy torch --policy bf16:torch --device cpu --steps 0 | FileCheck %s --check-prefix=BOTH
// RUN: not mp-diff %s --policy torch --device cpu --steps 0 --fail-beyond 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: mp-diff %s --policy bf16:torch --device cpu --steps 0 --fail-beyond

// CHECK: overflow.mlir: @f, batch 32, random inputs, on cpu
// CHECK: | fp32 {{.*}}| fp16:torch
// CHECK: 2 exp [[LINE:[0-9]+]]:8 | f32 {{.*}} - | f16 allow 1 non-fin ! -
// CHECK-NEXT: 3 log {{.*}} | f32 {{.*}} | f32 deny 1 non-fin ! -
// CHECK-NEXT: 1 more ops have one type and one error under all policies: --all prints them
// CHECK: tolerance 1.9e-06 1.6e-02
// CHECK: casts 0 2
// CHECK: fp32: every op is within the tolerance
// CHECK: fp16:torch: first beyond the tolerance: #2 mp.exp, infinite or NaN in 3 of 3 elements
// CHECK-NEXT: overflow.mlir:[[LINE]]:8: %e = mp.exp %c {mp.autocast = "low"} : tensor<3xf32>
// CHECK-NEXT: computed from #1 constant 0
// CHECK-NEXT: operand 0 is cast from f32 to f16

// BOTH: bf16:torch: every op is within the tolerance
// FAIL: tolerance
// FAIL: mp-diff: error: fp16:torch is beyond its tolerance
func.func @f() -> tensor<3xf32> {
  %c = mp.constant dense<12.0> : tensor<3xf32>
  %e = mp.exp %c {mp.autocast = "low"} : tensor<3xf32>
  %l = mp.log %e : tensor<3xf32>
  return %l : tensor<3xf32>
}
