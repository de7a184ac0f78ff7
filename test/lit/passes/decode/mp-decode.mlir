// A function of a text of 6 tokens becomes one of 2 of them, which keeps the keys and values of all.
// RUN: mp-opt %s --mp-decode=tokens=2 --canonicalize --cse | FileCheck %s

// CHECK: mp.variable window @decode.key.0 : tensor<1x6x2x4xf32>
// CHECK: mp.variable window @decode.value.0 : tensor<1x6x2x4xf32>

// CHECK:      func.func @logits(%[[X:.*]]: tensor<1x2xui16> {mp.name = "x", mp.text},
// CHECK-SAME:   %[[POSITION:.*]]: tensor<i32> {mp.name = "position"}) -> tensor<1x2x8xf32>
// CHECK-SAME:   mp.context = 6
// CHECK:      %[[TWO:.*]] = mp.iota dim(0) : tensor<2xi32>
// CHECK:      %[[PLACES:.*]] = mp.add %[[TWO]], %[[POSITION]]
// CHECK-DAG:  %[[TABLE:.*]] = mp.read @table
// CHECK-DAG:  %[[POSITIONS:.*]] = mp.read @positions
// CHECK:      %[[E:.*]] = mp.gather %[[TABLE]], %[[X]] dim(0) : tensor<8x8xf32>, tensor<1x2xui16>
// The rows of the table are those of the two tokens.
// CHECK:      %[[P:.*]] = mp.gather %[[POSITIONS]], %[[PLACES]] dim(0) : tensor<9x8xf32>, tensor<2xi32>
// CHECK:      %[[H:.*]] = mp.add %[[E]], %[[P]] : tensor<1x2x8xf32>, tensor<2x8xf32>
// CHECK:      %[[Q:.*]] = mp.reshape %[[H]] : tensor<1x2x8xf32> to tensor<1x2x2x4xf32>
// CHECK:      %[[BEFORE:.*]] = mp.read @decode.key.0
// CHECK:      %[[KEYS:.*]] = mp.select %[[HERE:.*]], %{{.*}}, %[[BEFORE]]
// CHECK:      mp.write @decode.key.0, %[[KEYS]]
// CHECK:      mp.write @decode.value.0, %[[VALUES:.*]] :
// CHECK:      %[[EARLIER:.*]] = mp.compare le
// CHECK:      mp.scaled_dot_product_attention %[[Q]], %[[KEYS]], %[[VALUES]] mask(%[[EARLIER]] : tensor<2x6xi1>)
// CHECK-SAME:   lengths(%{{.*}} : tensor<1xi32>) : tensor<1x2x2x4xf32>, tensor<1x6x2x4xf32>
// CHECK-NOT:  causal

mp.variable @table : tensor<8x8xf32> = #mp.init<zeros>
mp.variable @positions : tensor<9x8xf32> = #mp.init<zeros>
func.func @logits(%x: tensor<1x6xui16> {mp.name = "x"}) -> tensor<1x6x8xf32> {
  %table = mp.read @table : tensor<8x8xf32>
  %positions = mp.read @positions : tensor<9x8xf32>
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xui16>
  %p = mp.slice %positions offsets[0, 0] sizes[6, 8] : tensor<9x8xf32>
  %h = mp.add %e, %p : tensor<1x6x8xf32>, tensor<6x8xf32>
  %q = mp.reshape %h : tensor<1x6x8xf32> to tensor<1x6x2x4xf32>
  %y, %l = mp.scaled_dot_product_attention %q, %q, %q causal
      : tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>, tensor<1x6x2x4xf32>
  %r = mp.reshape %y : tensor<1x6x2x4xf32> to tensor<1x6x8xf32>
  %logits = mp.linear %r, %table : tensor<1x6x8xf32>, tensor<8x8xf32>
  return %logits : tensor<1x6x8xf32>
}
