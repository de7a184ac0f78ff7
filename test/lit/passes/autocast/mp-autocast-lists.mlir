// RUN: mp-opt %s '-mp-autocast=dtype=f16 allow=exp deny=linear,relu' | FileCheck %s
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 allow=lineer' 2>&1 | FileCheck %s --check-prefix=TYPO
// RUN: mp-opt %s '-mp-autocast=dtype=f16 allow=exp deny=linear,relu,log_softmax.int,mp.softmax,class:loss' | FileCheck %s
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 deny=qqqqqqqqqqqqqqqq' 2>&1 | FileCheck %s --check-prefix=FAR

// Lists override the policy, for ops that it has in another list and for ops it lacks.
// CHECK-LABEL: @lists
func.func @lists(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
  // CHECK: mp.linear %{{.*}} : tensor<4x8xf32>, tensor<2x8xf32>
  %0 = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  // CHECK: %[[LOW:.*]] = mp.cast %{{.*}} : tensor<4x2xf32> to tensor<4x2xf16>
  // CHECK: %[[EXP:.*]] = mp.exp %[[LOW]] : tensor<4x2xf16>
  %1 = mp.exp %0 : tensor<4x2xf32>
  // CHECK: %[[WIDE:.*]] = mp.cast %[[EXP]] : tensor<4x2xf16> to tensor<4x2xf32>
  // CHECK: mp.relu %[[WIDE]] : tensor<4x2xf32>
  %2 = mp.relu %1 : tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// TYPO: error: 'func.func' op unknown op "lineer" in a list of ops; did you mean linear
// FAR: unknown op "qqqqqqqqqqqqqqqq" in a list of ops{{$}}

// A file may extend another, but not itself.
// RUN: echo '{"extends": "%t.json", "allow": ["exp"]}' >%t.json
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 policy=%t.json' 2>&1 | FileCheck %s --check-prefix=ITSELF
// ITSELF: extends itself, or more than 16 others one after the other
// RUN: echo '[]' >%t.list.json
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 policy=%t.list.json' 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: expected an object of lists
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 policy=%t.none.json' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: cannot read policy {{.*}}.none.json: No such file or directory
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 policy=jmp:c=bf16' 2>&1 | FileCheck %s --check-prefix=JMP
// JMP: policy jmp:c=bf16: computes in bf16, and the recipe casts to f16
// RUN: not mp-opt %s '-mp-autocast=dtype=f16 policy=jmp:p=f16' 2>&1 | FileCheck %s --check-prefix=PARAMETERS
// PARAMETERS: parameters keep the type that they are declared with
