// RUN: not mp-translate --mp-to-program --mp-goal=run --mp-function=f %s 2>&1 | FileCheck %s

// A loop is made of a scan on the way. It is no input of the compiler.
// CHECK: loops-invalid.mlir:[[#@LINE+2]]:{{.*}} error: 'mp.loop' op cannot be compiled as it is written: write the mp.scan that mp-outline-loops makes it of
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = mp.loop @body carried(%x : tensor<4xf32>) rounds(3) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mp.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
