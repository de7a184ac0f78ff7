// RUN: mp-opt %s -mp-specialize -verify-diagnostics -split-input-file
// RUN: not mp-opt %s -mp-specialize=batch=-1 2>&1 | FileCheck %s

// CHECK: error: batch is -1, expected a positive number
// expected-error@+1 {{'tensor<?x4xf32>' has a batch dimension: give mp-specialize a batch}}
func.func @no_batch(%x: tensor<?x4xf32>) {
  return
}

// -----

// expected-error@+1 {{'tensor<4x?xf32>' has a '?' that is not its leading dimension}}
func.func @inner(%x: tensor<4x?xf32>) {
  return
}

// -----

// expected-error@+1 {{'tensor<?x?xf32>' has a '?' that is not its leading dimension}}
func.func private @declared(tensor<?x?xf32>)
