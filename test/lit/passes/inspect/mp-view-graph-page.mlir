// The page: one file of HTML with SVG.
// RUN: mp-opt %s --mp-view-graph="file=%t.html passes=mp-autocast{dtype=f16 record}" -o /dev/null
// RUN: FileCheck %s <%t.html
// It loads nothing, and runs one script that its head names by hash.
// RUN: FileCheck %s --check-prefix=ALONE --implicit-check-not=:// --implicit-check-not='url(' --implicit-check-not='src=' <%t.html
// The same input gives the same page.
// RUN: mp-opt %s --mp-view-graph="file=%t.2.html passes=mp-autocast{dtype=f16 record}" -o /dev/null
// RUN: cmp %t.html %t.2.html
// One picture alone, and the format instead of the extension.
// RUN: mp-opt %s --mp-view-graph="file=%t.page format=html" -o /dev/null
// RUN: FileCheck %s --check-prefix=SINGLE --implicit-check-not=before <%t.page

// ALONE: <!DOCTYPE html>
// ALONE: script-src &apos;sha256-{{[A-Za-z0-9+/=]+}}&apos;
// ALONE: <script>
// ALONE-NOT: <script

// CHECK: <title>paged - Mantissa</title>
// CHECK: <h1>paged</h1>
// CHECK: before and after <code>mp-autocast{dtype=f16 record}</code>
// The legend counts ops by element type.
// CHECK: f32</th>
// CHECK-NEXT: <td class="number">2</td><td class="number">2</td></tr>
// CHECK: f16</th>
// CHECK-NEXT: <td class="number">0</td><td class="number">3</td></tr>
// CHECK: all ops</th><td class="number">2</td><td class="number">5</td>
// CHECK: of these, casts</th><td class="number">0</td><td class="number">3</td>
// CHECK: new nodes</th><td class="number">0</td><td class="number">3</td>
// CHECK: changed nodes</th><td class="number">0</td><td class="number">1</td>
// Casts are listed as text, with their reasons.
// CHECK: <summary>3 casts as text</summary>
// CHECK: <th>f32 → f16</th><td>4x3xf16</td><td>{{.*}}mp-view-graph-page.mlir:[[#]]:16</td><td>new</td><td class="prose">for linear, allow: {{.*}}</td>
// CHECK: <h2>before</h2>
// CHECK: <svg class="graph" width="[[#]]{{.*}}aria-label="@f">
// CHECK: <path class="edge f32" d="M{{[-0-9.A-Z ]+}}" data-ends="p0n{{[0-9]+}} p0n{{[0-9]+}}"><title>4x3xf32</title>
// CHECK: <g class="node argument f32" id="p0n0" data-key="argument x">
// CHECK: <g class="node read f32" {{.*}}data-key="read w">
// CHECK: <g class="node op f32" {{.*}}data-key="mp.linear [[KEY:[^"]*]]">
// CHECK: <h2>after</h2>
// CHECK: <path class="half f32"
// CHECK-SAME: <path class="half f16"
// CHECK: <text class="type" {{.*}}>f32 → f16</text>
// CHECK: <text class="mark" {{.*}}>new</text>
// The same op has the same key in both pictures; the script marks both.
// CHECK: <g class="node op f16 changed" {{.*}}data-key="mp.linear [[KEY]]">
// CHECK: <text class="type" {{.*}}>was f32, f32 → f32</text>
// CHECK: <script>

// SINGLE: <h1>paged</h1>
// SINGLE: <h2>graph</h2>
// SINGLE: <g class="node op f32"

module @paged {
  mp.variable @w : tensor<3x3xf32> = #mp.init<ones>
  func.func @f(%x: tensor<4x3xf32> {mp.name = "x"}) -> tensor<4x3xf32> {
    %w = mp.read @w : tensor<3x3xf32>
    %y = mp.linear %x, %w : tensor<4x3xf32>, tensor<3x3xf32>
    %e = mp.exp %y : tensor<4x3xf32>
    return %e : tensor<4x3xf32>
  }
}
