// RUN: mp-opt %s | mp-opt | FileCheck %s

// CHECK-LABEL: @sums
func.func @sums(%zero: tensor<?x4xf32>, %xs: tensor<?x9x4xf32>) -> (tensor<?x4xf32>, tensor<?x9x4xf32>) {
  // CHECK: %[[ALL:.*]]:2 = mp.scan carried(%[[S:.*]] = %{{.*}} : tensor<?x4xf32>)
  // CHECK-SAME: over(%[[X:.*]] = %{{.*}} : tensor<?x9x4xf32>) dim(1) reverse -> (tensor<?x4xf32>, tensor<?x9x4xf32>) {
  %all:2 = mp.scan carried(%s = %zero : tensor<?x4xf32>) over(%x = %xs : tensor<?x9x4xf32>) dim(1) reverse
      -> (tensor<?x4xf32>, tensor<?x9x4xf32>) {
    // CHECK-NEXT: %[[T:.*]] = mp.add %[[S]], %[[X]]
    %t = mp.add %s, %x : tensor<?x4xf32>, tensor<?x4xf32>
    // CHECK-NEXT: mp.yield %[[T]], %[[T]]
    mp.yield %t, %t : tensor<?x4xf32>, tensor<?x4xf32>
  }
  return %all#0, %all#1 : tensor<?x4xf32>, tensor<?x9x4xf32>
}

// Over nothing; values from outside; a scan in a scan.
// CHECK-LABEL: @power
func.func @power(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: mp.scan carried(%{{.*}} = %{{.*}} : tensor<4xf32>) length(3) attributes {test.kept} -> tensor<4xf32> {
  %y = mp.scan carried(%a = %x : tensor<4xf32>) length(3) attributes {test.kept} -> tensor<4xf32> {
    // CHECK: mp.scan carried({{.*}}) length(2) -> tensor<4xf32> {
    %b = mp.scan carried(%c = %a : tensor<4xf32>) length(2) -> tensor<4xf32> {
      %d = mp.mul %c, %x : tensor<4xf32>, tensor<4xf32>
      mp.yield %d : tensor<4xf32>
    }
    mp.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// Nothing is carried, and numbers are stacked.
// CHECK-LABEL: @map
func.func @map(%xs: tensor<5x4xf32>) -> tensor<5xf32> {
  // CHECK: mp.scan over(%{{.*}} = %{{.*}} : tensor<5x4xf32>) -> tensor<5xf32> {
  %y = mp.scan over(%x = %xs : tensor<5x4xf32>) -> tensor<5xf32> {
    %s = mp.sum %x dims[0] : tensor<4xf32>
    mp.yield %s : tensor<f32>
  }
  return %y : tensor<5xf32>
}

// CHECK-LABEL: @empty
func.func @empty() {
  // CHECK: mp.scan length(2) {
  mp.scan length(2) {
  }
  return
}
