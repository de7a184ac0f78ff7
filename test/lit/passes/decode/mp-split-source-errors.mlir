// RUN: mp-opt %s --mp-decode=tokens=2 --mp-split-source -verify-diagnostics

mp.variable @table : tensor<8x8xf32> = #mp.init<zeros>
// expected-error@+1 {{has loops beside what its text is written from: it takes one token at a time}}
func.func @logits(%x: tensor<1x6xi32> {mp.name = "x"}, %source: tensor<1x8xf32> {mp.name = "source"}) -> tensor<1x6x8xf32> {
  %table = mp.read @table : tensor<8x8xf32>
  %e = mp.gather %table, %x dim(0) : tensor<8x8xf32>, tensor<1x6xi32>
  %last, %all = mp.scan carried(%s = %source : tensor<1x8xf32>) over(%t = %e : tensor<1x6x8xf32>) dim(1)
      -> (tensor<1x8xf32>, tensor<1x6x8xf32>) {
    %sum = mp.add %s, %t : tensor<1x8xf32>, tensor<1x8xf32>
    mp.yield %sum, %sum : tensor<1x8xf32>, tensor<1x8xf32>
  }
  return %all : tensor<1x6x8xf32>
}
