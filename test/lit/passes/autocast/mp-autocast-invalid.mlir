// RUN: mp-opt %s -mp-autocast=dtype=f16 -verify-diagnostics -split-input-file
// RUN: not mp-opt %s -mp-autocast=dtype=f8E4M3FN 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 policy=kerass' 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 mode=lazy' 2>&1 | FileCheck %s --check-prefix=MODE

// DTYPE: error: 'func.func' op autocast to "f8E4M3FN", expected f16, bf16, tf32 or f32
// POLICY: error: 'func.func' op unknown autocast policy "kerass"; did you mean keras? There are apex-o0
// MODE: error: autocast mode is "lazy", expected eager or propagate

// expected-error@+1 {{'func.func' op has control flow, in which casts are not decided}}
func.func @control_flow(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
^unreachable:
  return %x : tensor<4xf32>
}

// -----

func.func @banned(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<f16> {
  // expected-error@+1 {{is banned under autocast to 'f16' (listed under banned as "binary_cross_entropy"); use a form that does not overflow, such as one on logits}}
  %0 = mp.binary_cross_entropy %x, %y : tensor<4xf16>, tensor<4xf16>
  return %0 : tensor<f16>
}
