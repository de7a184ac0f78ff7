// RUN: mp-opt %s -mp-autodiff=function=f -verify-diagnostics -split-input-file
// RUN: not mp-opt %s -split-input-file -mp-autodiff=function=g 2>&1 | FileCheck %s

// CHECK: error: there is no function @g to differentiate
// expected-error@+1 {{'func.func' op result 0 must be one float to be differentiated}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' op result 0 must be one float to be differentiated}}
func.func @f(%i: index) -> index {
  return %i : index
}

// -----

// expected-error@+1 {{'func.func' op must have one block to be differentiated}}
func.func private @f(tensor<f32>) -> tensor<f32>

// -----

// A second run is refused.
// expected-error@+1 {{'func.func' op is to be differentiated as @f.gradient, which exists}}
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// expected-note@+1 {{here}}
func.func private @f.gradient()
