// Names of the module and of its places stand in comments, which they cannot leave.
// RUN: mp-translate --mp-to-cuda --mp-headers=false --mp-goal=run %s | FileCheck %s

// CHECK: // The kernels of a?int of_module; for
// CHECK-NOT: {{^ *int of_}}
// CHECK: //   b?int of_place;\u202e:1:2
module @"a\0Aint of_module;" {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = mp.exp %x : tensor<4xf32> loc("b\nint of_place;\E2\80\AE":1:2)
    return %y : tensor<4xf32>
  }
}
