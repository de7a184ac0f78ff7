// RUN: mp-opt %s -mp-verify-step -verify-diagnostics -split-input-file

mp.variable @w : tensor<f32> = #mp.init<zeros>
// expected-note@+1 {{here}}
func.func @unreduced(%x: tensor<f32>) attributes {mp.ranks = 2} {
  %0 = mp.neg %x : tensor<f32>
  // expected-error@+1 {{gives @w a value that each rank computes alone, from an argument}}
  mp.write @w, %0 : tensor<f32>
  return
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @by_rank(%x: tensor<f32>) attributes {mp.ranks = 2} {
  // expected-note@+1 {{here}}
  %0 = mp.rank
  %1 = mp.cast %0 : tensor<i64> to tensor<f32>
  // expected-error@+1 {{gives @w a value that each rank computes alone, from mp.rank}}
  mp.write @w, %1 : tensor<f32>
  return
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
// expected-error@+1 {{may be skipped on one rank alone: its flag comes from an argument without mp.all_reduce or}}
func.func @flag(%x: tensor<f32>, %skipped: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) attributes {mp.ranks = 2} {
  return %skipped : tensor<i1>
}

// -----

// A part of a tensor is a rank's own, but all write it, or none.
mp.variable slot @m : tensor<2xf32> part_of tensor<3xf32> = #mp.init<zeros>
// expected-note@+1 {{here}}
func.func @part(%g: tensor<2xf32>, %if: tensor<i1>) attributes {mp.ranks = 2} {
  // expected-error@+1 {{gives @m a condition that each rank computes alone, from an argument}}
  mp.write @m, %g if %if : tensor<2xf32>
  return
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @reduced(%x: tensor<f32>) attributes {mp.ranks = 2} {
  %0 = mp.all_reduce sum %x : tensor<f32>
  mp.write @w, %0 : tensor<f32>
  return
}
