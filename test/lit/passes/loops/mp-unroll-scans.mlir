// RUN: mp-opt %s --mp-unroll-scans=all --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: mp-opt %s --mp-number-streams --mp-unroll-scans=all --cse | FileCheck %s --check-prefix=STREAMS

// From the last time step to the first: what is stacked keeps its place.
// CHECK-LABEL: @reverse
func.func @reverse(%zero: tensor<?x4xf32>, %xs: tensor<?x2x4xf32>) -> (tensor<?x4xf32>, tensor<?x2x4xf32>) {
  // CHECK: %[[LAST:.*]] = mp.slice %{{.*}} offsets[0, 1, 0] sizes[-1, 1, -1] : tensor<?x2x4xf32>
  // CHECK: %[[X1:.*]] = mp.reshape %[[LAST]] : tensor<?x1x4xf32> to tensor<?x4xf32>
  // CHECK: %[[T1:.*]] = mp.add %{{.*}}, %[[X1]] : {{.*}} loc(callsite("sum"({{.*}}) at "time step 1"(
  // CHECK: %[[P1:.*]] = mp.reshape %[[T1]] : tensor<?x4xf32> to tensor<?x1x4xf32>
  // CHECK: mp.slice %{{.*}} offsets[0, 0, 0] sizes[-1, 1, -1]
  // CHECK: %[[T0:.*]] = mp.add %[[T1]], %{{.*}} at "time step 0"(
  // CHECK: %[[P0:.*]] = mp.reshape %[[T0]] : tensor<?x4xf32> to tensor<?x1x4xf32>
  // CHECK: %[[ALL:.*]] = mp.concat %[[P0]], %[[P1]] dim(1)
  // CHECK: return %[[T0]], %[[ALL]]
  %all:2 = mp.scan carried(%s = %zero : tensor<?x4xf32>) over(%x = %xs : tensor<?x2x4xf32>) dim(1) reverse
      -> (tensor<?x4xf32>, tensor<?x2x4xf32>) {
    %t = mp.add %s, %x : tensor<?x4xf32>, tensor<?x4xf32> loc("sum"("file":1:2))
    mp.yield %t, %t : tensor<?x4xf32>, tensor<?x4xf32>
  }
  return %all#0, %all#1 : tensor<?x4xf32>, tensor<?x2x4xf32>
}

// An inner scan is unrolled in each time step; values may change places.
// CHECK-LABEL: @fibonacci
func.func @fibonacci(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-COUNT-4: mp.add
  // CHECK-NOT: mp.add
  // CHECK-NOT: mp.scan
  %r:2 = mp.scan carried(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) length(2) -> (tensor<4xf32>, tensor<4xf32>) {
    %s:2 = mp.scan carried(%c = %a : tensor<4xf32>, %d = %b : tensor<4xf32>) length(2)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %e = mp.add %c, %d : tensor<4xf32>, tensor<4xf32>
      mp.yield %d, %e : tensor<4xf32>, tensor<4xf32>
    }
    mp.yield %s#0, %s#1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// No time steps: what is carried stays as it is, and nothing is stacked.
// CHECK-LABEL: @none
func.func @none(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<0x4xf32>) {
  // CHECK-NEXT: %[[EMPTY:.*]] = mp.constant {{.*}} tensor<0x4xf32>
  // CHECK-NEXT: return %{{.*}}, %[[EMPTY]]
  %r:2 = mp.scan carried(%a = %x : tensor<4xf32>) length(0) -> (tensor<4xf32>, tensor<0x4xf32>) {
    %b = mp.relu %a : tensor<4xf32>
    mp.yield %b, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<0x4xf32>
}

// Each time step draws other bits of one stream, by its number.
// STREAMS-LABEL: @draws
func.func @draws(%x: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  // STREAMS: %[[IOTA:.*]] = mp.iota dim(0) : tensor<3xi32>
  // STREAMS: %[[ALL:.*]] = mp.cast %[[IOTA]] : tensor<3xi32> to tensor<3xi64>
  // STREAMS: %[[S0:.*]] = mp.slice %[[ALL]] offsets[0] sizes[1]
  // STREAMS: %[[T0:.*]] = mp.reshape %[[S0]] : tensor<1xi64> to tensor<i64>
  // STREAMS: mp.dropout %{{.*}} stream(7) key(%[[T0]])
  // STREAMS: %[[S1:.*]] = mp.slice %[[ALL]] offsets[1] sizes[1]
  // STREAMS: %[[T1:.*]] = mp.reshape %[[S1]] : tensor<1xi64> to tensor<i64>
  // STREAMS: mp.dropout %{{.*}} stream(7) key(%[[T1]])
  // STREAMS: mp.dropout %{{.*}} stream(7) key(
  // STREAMS-NOT: mp.dropout
  %r:2 = mp.scan length(3) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
    %y = mp.dropout %x stream(7) : tensor<4xf32>
    %z = mp.mul %y, %x : tensor<4xf32>, tensor<4xf32>
    mp.yield %y, %z : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<3x4xf32>, tensor<3x4xf32>
}
