// Functions with nothing to draw, with control flow, and of other dialects; regions; calls; a module without functions.
// RUN: mp-opt %s --mp-view-graph="file=%t.dot passes=canonicalize" -o /dev/null
// RUN: FileCheck %s --implicit-check-not=declared --implicit-check-not=(new) <%t.dot
// RUN: mp-opt %s --mp-view-graph=file=%t.html -o /dev/null
// RUN: FileCheck %s --check-prefix=PAGE <%t.html
// RUN: echo "module {}" | mp-opt - --mp-view-graph="file=%t.none.html passes=canonicalize" -o /dev/null
// RUN: grep '<h2>after</h2>' %t.none.html

// CHECK: label="before";
// CHECK: label="@empty";
// CHECK-NEXT: }
// PAGE: aria-label="@empty"
func.func private @empty() { return }
func.func private @declared(tensor<f32>)

// CHECK: label="@called";
// PAGE: aria-label="@called"
func.func private @called(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }

// CHECK: label="@regions";
// CHECK: label="autocast bf16 policy torch";
// CHECK-NEXT: style=rounded;
// CHECK-NEXT: [[EXP:n[0-9]+]] [label="exp\nf32"
// CHECK: [[CALL:n[0-9]+]] [label="call @called\nf32"
// CHECK: label="@flow";
// CHECK: label="arith.addf
// A region's values join the nodes outside of it.
// CHECK: [[EXP]] -> [[CALL]] [label="f32"];
// CHECK: label="after";
func.func @regions(%x: tensor<f32>) -> tensor<f32> {
  %r = mp.autocast dtype(bf16) policy("torch") {
    %e = mp.exp %x : tensor<f32>
    mp.yield %e : tensor<f32>
  } : tensor<f32>
  %y = call @called(%r) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @flow(%a: f32, %b: f32) -> f32 {
  %s = arith.addf %a, %b : f32
  return %s : f32
}
