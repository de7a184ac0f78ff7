// The graph before and after passes, with marks on what is new, changed or gone.
// RUN: mp-opt %s --mp-view-graph="file=%t.dot passes=mp-autocast{dtype=f16 record}" >%t.mlir
// RUN: FileCheck %s <%t.dot
// The passes ran on a copy.
// RUN: mp-opt %s -o %t.same.mlir
// RUN: cmp %t.mlir %t.same.mlir
// They are given as --pass-pipeline takes them; passes over functions may be named alone.
// RUN: mp-opt %s --pass-pipeline="builtin.module(mp-view-graph{file=%t.2.dot passes=builtin.module(mp-specialize{batch=4},func.func(mp-number-ops)) title={two words}})" -o /dev/null
// RUN: FileCheck %s --check-prefix=TEXT <%t.2.dot
// RUN: mp-opt %s --mp-view-graph="file=%t.3.dot passes=mp-specialize{batch=4},mp-fuse" -o /dev/null
// RUN: FileCheck %s --check-prefix=GONE <%t.3.dot
// The options survive being printed.
// RUN: mp-opt %s --mp-view-graph="file=%t.4.dot passes='mp-specialize{batch=4},mp-autocast{dtype=bf16 policy=keras}' title='two words'" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=DUMP

// TEXT: digraph "two words"
// TEXT: label="two words\nbefore and after builtin.module(mp-specialize{batch=4},func.func(mp-number-ops))"
// TEXT: label="relu\n4x3xf32"
// DUMP: passes=mp-specialize{batch=4},mp-autocast{dtype=bf16 policy=keras} stages=false title={two words}

mp.variable @w : tensor<3x3xf32> = #mp.init<ones>
// CHECK: label="before";
// CHECK: label="@f";
// CHECK: label="linear\n?x3xf32", shape=box
// CHECK-NOT: xlabel
// CHECK: label="after";
// CHECK: label="f32 → f16", {{.*}}tooltip="{{.*}}\nfor linear, allow: {{.*}}", xlabel=new, penwidth=2.5];
// CHECK: label="f32 → f16", {{.*}}xlabel=new
// A changed op tells the element types that it had.
// CHECK: label="linear\n?x3xf16\nwas f32, f32 → f32", {{.*}}xlabel=changed
// CHECK: label="relu\n?x3xf16\nwas f32 → f32", {{.*}}xlabel=changed
// What stays is not marked, nor is another shape.
// CHECK: label="f16 → f32", {{.*}}xlabel=new
// CHECK-NOT: xlabel
// CHECK: label="exp\n?x3xf32", {{.*}}
// Edges of the second picture join its own nodes.
// CHECK: n6 -> n7 [label="?x3xf32"];

// GONE: label="before";
// GONE: label="w\n3x3xf32"{{.*}}
// GONE: label="after";
// GONE-NOT: xlabel=gone
// GONE: label="kernel of
func.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %w = mp.read @w : tensor<3x3xf32>
  %y = mp.linear %x, %w : tensor<?x3xf32>, tensor<3x3xf32>
  %r = mp.relu %y : tensor<?x3xf32>
  %e = mp.exp %r : tensor<?x3xf32>
  return %e : tensor<?x3xf32>
}
