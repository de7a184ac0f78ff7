// RUN: mp-opt %s -mp-autocast=dtype=f16 -o %t.once
// RUN: mp-opt %s -mp-autocast=dtype=f16 -mp-autocast=dtype=f16 | diff %t.once -
// RUN: not mp-opt %t.once -mp-autocast='dtype=bf16 policy=keras' 2>&1 | FileCheck %s

// The function is cast once: the op's attribute is gone then, and its policy would decide otherwise.
// CHECK: error: 'func.func' op is already cast to f16 by torch, and cannot be cast to bf16 by keras any more: start from the function without casts
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mp.exp %x {mp.autocast = "low"} : tensor<4xf32>
  return %y : tensor<4xf32>
}
