// The text for Graphviz: nodes with a shape for each kind and a colour for each element type, and edges with types.
// RUN: mp-opt %s --mp-view-graph=file=- -o /dev/null | FileCheck %s
// Without a file it goes to standard error, and the module stays as it is.
// RUN: mp-opt %s --mp-view-graph 2>&1 >%t.mlir | FileCheck %s
// RUN: mp-opt %s -o %t.same.mlir
// RUN: cmp %t.mlir %t.same.mlir
// The same input gives the same text.
// RUN: mp-opt %s --mp-view-graph=file=%t.1.dot --mp-view-graph=file=%t.2.gv -o /dev/null
// RUN: cmp %t.1.dot %t.2.gv
// The format may be given, and one function be chosen; the title too.
// RUN: mp-opt %s --mp-view-graph="file=%t.txt format=dot function=other title='one of two'" -o /dev/null
// RUN: FileCheck %s --check-prefix=ONE --implicit-check-not=@shapes <%t.txt

module @pictured {
  mp.variable @w : tensor<2x4xf32> = #mp.init<ones>
  mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>

  // CHECK: digraph "pictured" {
  // The legend names the colours that occur.
  // CHECK: label="element type of the result";
  // CHECK-NEXT: f32 [label="f32", shape=box, fillcolor="[[F32:#[0-9a-f]+]]"];
  // CHECK-NEXT: f16 [label="f16", shape=box, fillcolor="[[F16:#[0-9a-f]+]]"];
  // CHECK-NEXT: bf16 [label="bf16", {{.*}}
  // CHECK-NEXT: f8 [label="8-bit floats", {{.*}}
  // CHECK-NEXT: int [label="integers", {{.*}}fillcolor="[[INT:#[0-9a-f]+]]"];
  // CHECK-NEXT: i1 [label="flags", {{.*}}fillcolor="[[FLAG:#[0-9a-f]+]]"];
  // CHECK-NEXT: }
  // CHECK: label="@shapes";
  func.func @shapes(%pixels: tensor<?x4xui8> {mp.name = "pixels"}, %ok: tensor<i1>) -> (tensor<?x2xf16> {mp.name = "y"}) {
    // CHECK-NEXT: n0 [label="pixels\n?x4xui8", shape=invhouse, fillcolor="[[INT]]", tooltip="pixels\n{{.*}}mp-view-graph.mlir:[[#@LINE-1]]:21"];
    // CHECK-NEXT: n1 [label="argument 1\ni1", shape=invhouse, fillcolor="[[FLAG]]"
    // A cast has the colours of both types.
    // CHECK-NEXT: n2 [label="ui8 → f32", shape=hexagon, {{.*}}, fillcolor="[[INT]]:[[F32]]", tooltip="%0 = mp.cast {{.*}}\n{{.*}}:[[#@LINE+1]]:10"];
    %x = mp.cast %pixels : tensor<?x4xui8> to tensor<?x4xf32>
    // CHECK-NEXT: n3 [label="255\nf32", shape=ellipse
    %c = mp.constant dense<255.0> : tensor<f32>
    // CHECK-NEXT: n4 [label="div\n?x4xf32", shape=box, fillcolor="[[F32]]"
    %s = mp.div %x, %c : tensor<?x4xf32>, tensor<f32>
    // CHECK-NEXT: n5 [label="w\n2x4xf32", shape=cylinder
    %w = mp.read @w : tensor<2x4xf32>
    // CHECK-NEXT: n6 [label="f32 → f16"
    %h = mp.cast %s : tensor<?x4xf32> to tensor<?x4xf16>
    // CHECK-NEXT: n7 [label="f32 → f16"
    %v = mp.cast %w : tensor<2x4xf32> to tensor<2x4xf16>
    // CHECK-NEXT: n8 [label="linear\n?x2xf16", shape=box, fillcolor="[[F16]]"
    %y = mp.linear %h, %v : tensor<?x4xf16>, tensor<2x4xf16>
    // CHECK-NEXT: n9 [label="write mean\nf32", shape=cylinder
    mp.write @mean, %c if %ok : tensor<f32>
    // CHECK-NEXT: n10 [label="y\n?x2xf16", shape=house
    return %y : tensor<?x2xf16>
  }

  // CHECK: label="@other";
  // ONE: digraph "one of two"
  // ONE: label="@other";
  func.func @other(%x: tensor<3xbf16>, %q: tensor<3xf8E4M3FN>) -> (tensor<3xbf16>, tensor<3xf8E4M3FN>) {
    // CHECK: [label="exp\n3xbf16"
    %e = mp.exp %x : tensor<3xbf16>
    return %e, %q : tensor<3xbf16>, tensor<3xf8E4M3FN>
  }
}

// CHECK: n0 -> n2 [label="?x4xui8"];
// CHECK: n3 -> n4 [label="f32"];
// CHECK: n7 -> n8 [label="2x4xf16"];
// The flag of a write is a condition.
// CHECK: n3 -> n9 [label="f32"];
// CHECK: n1 -> n9 [label="i1", style=dashed];
// CHECK: n8 -> n10 [label="?x2xf16"];
