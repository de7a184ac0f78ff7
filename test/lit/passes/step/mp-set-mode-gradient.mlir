// RUN: mp-run run %s --mode=train --function=varied --input=3 | FileCheck %s --check-prefix=NUMBER
// RUN: mp-run run %s --mode=eval --function=varied --input=3 | FileCheck %s --check-prefix=NUMBER
// RUN: mp-run run %s --mode=eval --function=dropped --input=3 | FileCheck %s --check-prefix=NUMBER

// With respect to what a mode replaces by its operand, x * r has the gradient x, and not that of x * x.
// NUMBER: 9
// NUMBER: 3
func.func @varied(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r = mp.in_training %x, %x : tensor<f32>, tensor<f32>
  %y = mp.mul %x, %r : tensor<f32>, tensor<f32>
  %g = mp.gradient %y of %r : tensor<f32>, tensor<f32>
  return %y, %g : tensor<f32>, tensor<f32>
}
func.func @dropped(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r = mp.dropout %x {p = 0.5} : tensor<f32>
  %y = mp.mul %x, %r : tensor<f32>, tensor<f32>
  %g = mp.gradient %y of %r : tensor<f32>, tensor<f32>
  return %y, %g : tensor<f32>, tensor<f32>
}
