// RUN: mp-opt %s -mp-lint -verify-diagnostics -o /dev/null

// A finding of an op in a loop is told once, with the time steps that have it.
func.func @grows(%x: tensor<?x9x4xf32>, %h: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = mp.scan carried(%a = %h : tensor<?x4xf32>) over(%s = %x : tensor<?x9x4xf32>) dim(1) -> tensor<?x4xf32> {
    // expected-warning@+2 {{'mp.exp' of numbers up to 3.40282e+38 overflows f32, which ends at 3.40282e+38; bound them before, as mp.clamp does [exp-overflow]}}
    // expected-note@+1 {{in time step 0, and in 8 more}}
    %e = mp.exp %s : tensor<?x4xf32>
    %t = mp.add %a, %e : tensor<?x4xf32>, tensor<?x4xf32>
    mp.yield %t : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}

// The first time step, which is the last of a reversed loop, has small numbers.
func.func @later(%h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mp.sigmoid %h : tensor<4xf32>
  %r = mp.scan carried(%a = %0 : tensor<4xf32>) length(4) reverse -> tensor<4xf32> {
    // expected-warning@+2 {{[exp-overflow]}}
    // expected-note@+1 {{in time step 0}}
    %e = mp.exp %a : tensor<4xf32>
    mp.yield %e : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A number minus the larger of it and another is not positive.
func.func @logaddexp(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %xy = mp.maximum %x, %y : tensor<4xf32>, tensor<4xf32>
  %xyz = mp.maximum %xy, %z : tensor<4xf32>, tensor<4xf32>
  %m = mp.stop_gradient %xyz : tensor<4xf32>
  %dx = mp.sub %x, %m : tensor<4xf32>, tensor<4xf32>
  %ex = mp.exp %dx : tensor<4xf32>
  %dz = mp.sub %z, %m : tensor<4xf32>, tensor<4xf32>
  %ez = mp.exp %dz : tensor<4xf32>
  %sum = mp.add %ex, %ez : tensor<4xf32>, tensor<4xf32>
  return %sum : tensor<4xf32>
}

// Not so the larger of others, nor the smaller one.
func.func @others(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  %m = mp.maximum %y, %z : tensor<4xf32>, tensor<4xf32>
  %d = mp.sub %x, %m : tensor<4xf32>, tensor<4xf32>
  %e = mp.exp %d : tensor<4xf32> // expected-warning {{[exp-overflow]}}
  %n = mp.minimum %x, %y : tensor<4xf32>, tensor<4xf32>
  %d2 = mp.sub %x, %n : tensor<4xf32>, tensor<4xf32>
  %e2 = mp.exp %d2 : tensor<4xf32> // expected-warning {{[exp-overflow]}}
  return
}
