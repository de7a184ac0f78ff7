// One and a ten-thousandth is one in f16, and 1.0001 in f32 with an error of 2^-24.
// RUN: mp-diff %s --policy keras --device cpu --steps 0 --all | FileCheck %s
// RUN: mp-diff %s --policy keras --device cpu --steps 0 --tolerance 1e-5 | FileCheck %s --check-prefix=TIGHT

// CHECK: 1 constant {{.*}} | f32 0 - | f32 0 -
// CHECK: 3 add {{.*}} | f32 {{[0-9.]+}}e-08 - | f16 allow 2 1.0e-04 -
// CHECK-NOT: more ops
// CHECK: fp16:keras: every op is within the tolerance
// TIGHT: fp16:keras: first beyond the tolerance: #3 mp.add, error 1.0e-04, 2 of 2 elements beyond
// TIGHT: computed from #1 constant 0, #2 constant 0
// TIGHT: operand 0 is cast from f32 to f16
// TIGHT: operand 1 is cast from f32 to f16
func.func @f() -> tensor<2xf32> {
  %one = mp.constant dense<1.0> : tensor<2xf32>
  %little = mp.constant dense<1.0e-4> : tensor<2xf32>
  %y = mp.add %one, %little : tensor<2xf32>, tensor<2xf32>
  return %y : tensor<2xf32>
}
