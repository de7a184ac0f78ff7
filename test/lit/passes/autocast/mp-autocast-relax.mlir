// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=relax' | FileCheck %s
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=relax mode=propagate' | FileCheck %s --check-prefix=COLOUR
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=relax explain=%t.json' -o /dev/null && FileCheck %s --check-prefix=WHY <%t.json
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=@sums' | FileCheck %s --check-prefix=OWN

// Relax's matmul has an out_dtype, by default f32, and a value bound to a name inside the function is rounded
// to f16 once: as here without out_dtype. Results of the function have the types that it declares.
mp.policy @sums extends "torch" {out_dtype = "f32"}

// CHECK-LABEL: @returned
// CHECK: %[[H:.*]] = mp.matmul %{{.*}}, %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK: %[[Y:.*]] = mp.matmul %[[H]], %{{.*}} out_dtype(f32) : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK: return %[[Y]] : tensor<4x4xf32>
// COLOUR-LABEL: @returned
// COLOUR: mp.matmul %{{.*}}, %{{.*}} : tensor<4x4xf16>
// COLOUR: %[[Y:.*]] = mp.matmul %{{.*}} out_dtype(f32) : tensor<4x4xf16>
// COLOUR: return %[[Y]] : tensor<4x4xf32>
// OWN-LABEL: @returned
// OWN: mp.matmul %{{.*}} out_dtype(f32) : tensor<4x4xf16>
// WHY: "why": "listed under allow as \"matmul\""
// WHY: "why": "listed under allow as \"matmul\", and its sums stay f32, in which they are returned"
func.func @returned(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %h = mp.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %y = mp.matmul %h, %w : tensor<4x4xf32>, tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// Other ops that read the sums low get them rounded to f16.
// CHECK-LABEL: @also_used
// CHECK: %[[Y:.*]] = mp.linear %{{.*}} out_dtype(f32) : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4xf16>
// CHECK: %[[LOW:.*]] = mp.cast %[[Y]] : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: %[[Z:.*]] = mp.matmul %[[LOW]], %[[LOW]] : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK: %[[R:.*]] = mp.relu %[[Z]] : tensor<4x4xf16>
// CHECK: %[[WIDE:.*]] = mp.cast %[[R]] : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK: return %[[Y]], %[[WIDE]] : tensor<4x4xf32>, tensor<4x4xf32>
// The result of an op has its type under torch.
// OWN-LABEL: @also_used
// OWN: return %{{.*}} : tensor<4x4xf32>, tensor<4x4xf16>
func.func @also_used(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %y = mp.linear %x, %w, %b : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  %z = mp.matmul %y, %y : tensor<4x4xf32>, tensor<4x4xf32>
  %r = mp.relu %z : tensor<4x4xf32>
  return %y, %r : tensor<4x4xf32>, tensor<4x4xf32>
}

// A result declared f16 stays f16, and so do its sums.
// CHECK-LABEL: @declared
// CHECK: %[[Y:.*]] = mp.matmul %{{[^ ]*}}, %{{[^ ]*}} : tensor<4x4xf16>, tensor<4x4xf16>
// CHECK: return %[[Y]] : tensor<4x4xf16>
func.func @declared(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %y = mp.matmul %x, %x : tensor<4x4xf16>, tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

// tf32 rounds nothing here, and f64 is left alone.
// CHECK-LABEL: @double
// CHECK: mp.matmul %{{[^ ]*}}, %{{[^ ]*}} : tensor<4x4xf64>
func.func @double(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %y = mp.matmul %x, %x : tensor<4x4xf64>, tensor<4x4xf64>
  return %y : tensor<4x4xf64>
}
