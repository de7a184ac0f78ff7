// A decoder of labels looks at another text. Its labels are shifted: the text that is given is the shifted one, and its
// first token stands for the constant. What depends on the other text alone is computed once, and kept in variables.
// RUN: mp-opt %s --mp-decode --mp-split-source --canonicalize --cse | FileCheck %s --check-prefixes=BOTH,TEXT
// RUN: mp-opt %s --mp-decode --mp-split-source=part=source --canonicalize --cse | FileCheck %s --check-prefixes=BOTH,SOURCE
// RUN: not mp-opt %s --mp-decode --mp-split-source=part=all 2>&1 | FileCheck %s --check-prefix=PART

// PART: unknown part 'all', expected text or source

// BOTH-DAG: mp.variable window @decode.key.0 : tensor<2x6x2x4xf32>
// BOTH-DAG: mp.variable window @decode.source.1 : tensor<2x5x2x4xf32>
// BOTH-DAG: mp.variable window @decode.source.0 : tensor<2xi32>

// TEXT:      func.func @logits(%[[Y:.*]]: tensor<2x1xi32> {mp.name = "labels", mp.text},
// TEXT-SAME:   %[[POSITION:.*]]: tensor<i32> {mp.name = "position"}) -> tensor<2x1x8xf32>
// TEXT-DAG:  %[[N:.*]] = mp.read @decode.source.0
// TEXT-DAG:  %[[K:.*]] = mp.read @decode.source.1
// TEXT-DAG:  %[[VALID:.*]] = mp.maximum %[[Y]]
// TEXT-DAG:  %[[FIRST:.*]] = mp.compare eq
// TEXT:      %[[IN:.*]] = mp.select %[[FIRST]], %{{.*}}, %[[VALID]]
// TEXT:      mp.gather %{{.*}}, %[[IN]] dim(0)
// TEXT:      mp.write @decode.key.0
// TEXT:      mp.scaled_dot_product_attention %{{.*}}, %[[K]], %[[K]] lengths(%[[N]] : tensor<2xi32>)
// TEXT-NOT:  mp.write @decode.source

// SOURCE:      func.func @logits(%[[X:.*]]: tensor<2x5xui16> {mp.name = "tokens"}, %[[N:.*]]: tensor<2xi32> {mp.name = "lengths"})
// SOURCE-SAME:   attributes
// SOURCE:      %[[E:.*]] = mp.gather %{{.*}}, %[[X]] dim(0)
// SOURCE:      %[[K:.*]] = mp.reshape %[[E]]
// SOURCE:      mp.write @decode.source.0, %[[N]]
// SOURCE:      mp.write @decode.source.1, %[[K]]
// SOURCE-NOT:  mp.write
// SOURCE:      return{{$}}

mp.variable @table : tensor<8x8xf32> = #mp.init<zeros>
func.func @logits(%x: tensor<2x5xui16> {mp.name = "tokens"}, %n: tensor<2xi32> {mp.name = "lengths"},
                  %y: tensor<2x6xi32> {mp.name = "labels"}) -> tensor<2x6x8xf32> {
  %table = mp.read @table : tensor<8x8xf32>
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<2x5xui16>
  %k = mp.reshape %e : tensor<2x5x8xf32> to tensor<2x5x2x4xf32>
  %zero = mp.constant dense<0> : tensor<i32>
  %valid = mp.maximum %y, %zero : tensor<2x6xi32>, tensor<i32>
  %before = mp.slice %valid offsets[0, 0] sizes[-1, 5] : tensor<2x6xi32>
  %given = mp.pad %before low[0, 1] high[0, 0] value(3.0) : tensor<2x5xi32>
  %h = mp.gather %table, %given dim(0) : tensor<8x8xf32>, tensor<2x6xi32>
  %q = mp.reshape %h : tensor<2x6x8xf32> to tensor<2x6x2x4xf32>
  %a, %la = mp.scaled_dot_product_attention %q, %q, %q causal
      : tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>
  %c, %lc = mp.scaled_dot_product_attention %a, %k, %k lengths(%n : tensor<2xi32>)
      : tensor<2x6x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>
  %r = mp.reshape %c : tensor<2x6x2x4xf32> to tensor<2x6x8xf32>
  %logits = mp.linear %r, %table : tensor<2x6x8xf32>, tensor<8x8xf32>
  return %logits : tensor<2x6x8xf32>
}
