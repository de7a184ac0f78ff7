// RUN: mp-opt %s -mp-specialize=batch=5 -verify-diagnostics -split-input-file

// A batch of 1 would broadcast.
func.func @meet(%x: tensor<?x4x3xf32>, %y: tensor<?x3xf32>) {
  %0 = mp.reshape %x : tensor<?x4x3xf32> to tensor<?x3xf32>
  // expected-error@+1 {{has operands whose '?' differ: 4 times the batch in 'tensor<?x3xf32>' vs the batch in 'tensor<?x3xf32>'}}
  %1 = mp.add %0, %y : tensor<?x3xf32>, tensor<?x3xf32>
  return
}

// -----

// A broadcast to '?' is to the batch.
func.func @broadcast(%x: tensor<?x4x3xf32>, %y: tensor<1x3xf32>) {
  %0 = mp.reshape %x : tensor<?x4x3xf32> to tensor<?x3xf32>
  %1 = mp.broadcast %y : tensor<1x3xf32> to tensor<?x3xf32>
  // expected-error@+1 {{has operands whose '?' differ: the batch in 'tensor<?x3xf32>' vs 4 times the batch in 'tensor<?x3xf32>'}}
  %2 = mp.concat %1, %0 dim(1) : tensor<?x3xf32>, tensor<?x3xf32>
  return
}

// -----

func.func @divides(%x: tensor<?x3xf32>) {
  // expected-error@+1 {{a batch of 5 makes no whole number of rows of 'tensor<?x2x3xf32>', whose '?' is 1/2 of the batch}}
  %0 = mp.reshape %x : tensor<?x3xf32> to tensor<?x2x3xf32>
  return
}

// -----

func.func @updates(%x: tensor<?x4x3xf32>, %i: tensor<?xi32>) {
  %0 = mp.reshape %x : tensor<?x4x3xf32> to tensor<?x3xf32>
  // expected-error@+1 {{has operands whose '?' differ: 4 times the batch in 'tensor<?x3xf32>' vs the batch in 'tensor<?xi32>'}}
  %1 = mp.scatter_add %0, %i dim(0) size(9) : tensor<?x3xf32>, tensor<?xi32>
  return
}

// -----

func.func @call(%x: tensor<?x2xf32>) {
  %0 = mp.reshape %x : tensor<?x2xf32> to tensor<?xf32>
  // expected-error@+1 {{passes 'tensor<?xf32>', whose '?' is 2 times the batch, to a function whose '?' is the batch: run mp-inline before mp-specialize}}
  func.call @callee(%0) : (tensor<?xf32>) -> ()
  return
}
func.func private @callee(tensor<?xf32>)

// -----

// 2^47 rows of 2^20 batches
func.func @large(%x: tensor<?x140737488355328xf32>) {
  %0 = mp.reshape %x : tensor<?x140737488355328xf32> to tensor<?xf32>
  %1 = mp.broadcast %0 : tensor<?xf32> to tensor<?xf32>
  %2 = mp.slice %1 offsets[0] sizes[-1] : tensor<?xf32>
  // expected-error@-3 {{has a tensor of more than 281474976710656 elements}}
  return
}
