// RUN: mp-translate --mp-to-program --mp-goal=run --mp-target=cuda %s | grep -E "^entry|^  launch" | FileCheck %s --implicit-check-not=launch

// Slices of one tensor are one launch, and so is a concatenation of several pieces.
// CHECK-LABEL: entry f
// CHECK: launch {{.*}} table {{.*}} ; slice
// CHECK: launch {{.*}} ; concat
func.func @f(%x: tensor<64x96xf16>) -> tensor<64x96xf16> {
  %q = mp.slice %x offsets[0, 0] sizes[-1, 32] : tensor<64x96xf16>
  %k = mp.slice %x offsets[0, 32] sizes[-1, 32] : tensor<64x96xf16>
  %v = mp.slice %x offsets[0, 64] sizes[-1, 32] : tensor<64x96xf16>
  %r = mp.concat %v, %q, %k dim(1) : tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16>
  return %r : tensor<64x96xf16>
}
