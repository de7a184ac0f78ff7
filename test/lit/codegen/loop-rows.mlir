// RUN: mp-translate --mp-to-program --mp-goal=run --mp-function=given %s | FileCheck %s --check-prefix=GIVEN
// RUN: mp-translate --mp-to-program --mp-goal=run --mp-function=left %s | FileCheck %s --check-prefix=LEFT
// RUN: mp-translate --mp-to-program --mp-goal=run --mp-function=odd %s | FileCheck %s --check-prefix=ODD

// A carried value of which there is a stack lies in a row of all rounds' values: each round reads one and writes the
// next. Nothing is copied but the first value.

// What rounds were given, and what they leave, from the last time step to the first.
// GIVEN: copy 32 to arena+288 from input0+0
// GIVEN-NEXT: repeat 9 steps 1
// GIVEN-NEXT: launch {{.*}} args arena+288 by -32 arena+256 by -32 ; tanh
// GIVEN: result "" 9x8xf32 arena+32
// GIVEN-NEXT: result "" 9x8xf32 arena+0
// GIVEN-NEXT: result "" 8xf32 arena+0
// GIVEN: buffer 0 320 steps
func.func @given(%h: tensor<8xf32>) -> (tensor<9x8xf32>, tensor<9x8xf32>, tensor<8xf32>) {
  %r:3 = mp.scan carried(%s = %h : tensor<8xf32>) length(9) reverse -> (tensor<8xf32>, tensor<9x8xf32>, tensor<9x8xf32>) {
    %t = mp.tanh %s : tensor<8xf32>
    mp.yield %t, %s, %t : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#1, %r#2, %r#0 : tensor<9x8xf32>, tensor<9x8xf32>, tensor<8xf32>
}

// The row is not overwritten by what reads one of its values last.
// LEFT: copy 32 to arena+0 from input0+0
// LEFT-NEXT: repeat 9 steps 1
// LEFT-NEXT: launch {{.*}} args arena+0 by 32 arena+32 by 32 ; tanh
// LEFT-NEXT: launch {{.*}} args arena+32 arena+[[#EXP:]] ; exp
// LEFT: result "" 9x8xf32 arena+[[#EXP]]
// LEFT-NEXT: result "" 8xf32 arena+288
func.func @left(%h: tensor<8xf32>) -> (tensor<9x8xf32>, tensor<8xf32>) {
  %r:2 = mp.scan carried(%s = %h : tensor<8xf32>) length(9) -> (tensor<8xf32>, tensor<9x8xf32>) {
    %t = mp.tanh %s : tensor<8xf32>
    mp.yield %t, %t : tensor<8xf32>, tensor<8xf32>
  }
  %e = mp.exp %r#1 : tensor<9x8xf32>
  return %e, %r#0 : tensor<9x8xf32>, tensor<8xf32>
}

// Elements of 12 bytes are copied: kernels read from addresses that 16 divides.
// ODD: repeat 9 steps 2
// ODD-NEXT: launch {{.*}} ; tanh
// ODD-NEXT: copy 12 to arena+{{[0-9]+}} by 12 from
func.func @odd(%h: tensor<3xf32>) -> tensor<9x3xf32> {
  %r:2 = mp.scan carried(%s = %h : tensor<3xf32>) length(9) -> (tensor<3xf32>, tensor<9x3xf32>) {
    %t = mp.tanh %s : tensor<3xf32>
    mp.yield %t, %t : tensor<3xf32>, tensor<3xf32>
  }
  return %r#1 : tensor<9x3xf32>
}
