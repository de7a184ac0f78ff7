// A loop over the tokens of a text begins with the state after the token before. The text may have any length.
// RUN: mp-opt %s --mp-decode=tokens=2 | FileCheck %s
// RUN: mp-opt %s --mp-decode="tokens=2 only-loops" | FileCheck %s --check-prefixes=CHECK,LOOPS
// RUN: mp-opt %s --mp-decode="tokens=2 only-loops" --mp-outline-loops --mp-decode=tokens=2 | FileCheck %s --check-prefix=BODIES

// CHECK: mp.variable window @decode.state.0 : tensor<1x8xf32>

// CHECK:      func.func @logits(%[[X:.*]]: tensor<1x2xi32> {mp.text}, %[[POSITION:.*]]: tensor<i32> {mp.name = "position"}) -> tensor<1x2x8xf32>
// LOOPS-SAME:   mp.arguments = array<i64: 0, -1>
// CHECK-SAME:   mp.context = 0
// CHECK:      %[[BEGIN:.*]] = mp.constant dense<1.0
// CHECK:      %[[E:.*]] = mp.gather %{{.*}}, %[[X]] dim(0) : tensor<8x8xf32>, tensor<1x2xi32>
// CHECK:      %[[FIRST:.*]] = mp.compare eq %[[POSITION]]
// CHECK:      %[[BEFORE:.*]] = mp.read @decode.state.0 : tensor<1x8xf32>
// CHECK:      %[[STATE:.*]] = mp.select %[[FIRST]], %[[BEGIN]], %[[BEFORE]]
// CHECK:      %[[S:.*]]:2 = mp.scan carried(%{{.*}} = %[[STATE]] : tensor<1x8xf32>) over(%{{.*}} = %[[E]] : tensor<1x2x8xf32>) dim(1)
// CHECK-SAME:   -> (tensor<1x8xf32>, tensor<1x2x8xf32>)
// CHECK:      mp.write @decode.state.0, %[[S]]#0 : tensor<1x8xf32>
// CHECK:      return %{{.*}} : tensor<1x2x8xf32>
mp.variable @table : tensor<8x8xf32> = #mp.init<zeros>
mp.variable @places : tensor<6x8xf32> = #mp.init<zeros>
func.func @logits(%x: tensor<1x6xi32>) -> tensor<1x6x8xf32> {
  %begin = mp.constant dense<1.0> : tensor<1x8xf32>
  %table = mp.read @table : tensor<8x8xf32>
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  %last, %all = mp.scan carried(%s = %begin : tensor<1x8xf32>) over(%t = %e : tensor<1x6x8xf32>) dim(1)
      -> (tensor<1x8xf32>, tensor<1x6x8xf32>) {
    %sum = mp.add %s, %t : tensor<1x8xf32>, tensor<1x8xf32>
    mp.yield %sum, %sum : tensor<1x8xf32>, tensor<1x8xf32>
  }
  %logits = mp.linear %all, %table : tensor<1x6x8xf32>, tensor<8x8xf32>
  return %logits : tensor<1x6x8xf32>
}

// A loop over something else stays, and only-loops leaves its function alone.
// CHECK-LABEL: func.func @other
// LOOPS-SAME:    tensor<1x6xi32>) -> tensor<1x6x8xf32> {
// CHECK:         length(3)
func.func @other(%x: tensor<1x6xi32>) -> tensor<1x6x8xf32> {
  %table = mp.read @table : tensor<8x8xf32>
  %power = mp.scan carried(%s = %table : tensor<8x8xf32>) length(3) -> tensor<8x8xf32> {
    %square = mp.mul %s, %s : tensor<8x8xf32>, tensor<8x8xf32>
    mp.yield %square : tensor<8x8xf32>
  }
  %e = mp.gather %power, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  return %e : tensor<1x6x8xf32>
}

// The body of a loop is a part of what calls it, and decodes nothing itself.
// BODIES:       func.func @other(%{{.*}}: tensor<1x2xi32> {mp.text}, %{{.*}}: tensor<i32> {mp.name = "position"})
// BODIES:         mp.loop @[[ROUND:[^ (]*]]
// BODIES:       func.func private @[[ROUND]](
// BODIES-SAME:    %{{[^ ,]*}}: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {mp.loop_body} {

// What depends on positions bounds the text, and nothing else changes: the first token begins anew.
// CHECK-LABEL: func.func @positions
// CHECK-SAME:    mp.context = 6
// CHECK:         mp.scan carried(%{{.*}} = %{{.*}} : tensor<1x8xf32>) over(%{{.*}} : tensor<1x2x8xf32>) dim(1)
// CHECK:         mp.write @decode.state.
// CHECK:         mp.gather %{{.*}}, %{{.*}} dim(0) : tensor<6x8xf32>, tensor<2xi32>
func.func @positions(%x: tensor<1x6xi32>) -> tensor<1x6x8xf32> {
  %zero = mp.constant dense<0.0> : tensor<1x8xf32>
  %table = mp.read @table : tensor<8x8xf32>
  %places = mp.read @places : tensor<6x8xf32>
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  %last, %all = mp.scan carried(%s = %zero : tensor<1x8xf32>) over(%t = %e : tensor<1x6x8xf32>) dim(1)
      -> (tensor<1x8xf32>, tensor<1x6x8xf32>) {
    %sum = mp.add %s, %t : tensor<1x8xf32>, tensor<1x8xf32>
    mp.yield %sum, %sum : tensor<1x8xf32>, tensor<1x8xf32>
  }
  %y = mp.add %all, %places : tensor<1x6x8xf32>, tensor<6x8xf32>
  return %y : tensor<1x6x8xf32>
}
