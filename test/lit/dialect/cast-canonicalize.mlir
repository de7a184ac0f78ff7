// RUN: mp-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @same
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mp.cast %x : tensor<4xf32> to tensor<4xf32>
  // CHECK-NEXT: return %[[X]]
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @wider_and_back
// CHECK-SAME: (%[[H:.*]]: tensor<4xf16>, %[[B:.*]]: tensor<4xbf16>, %[[S:.*]]: tensor<4xf32>)
func.func @wider_and_back(%h: tensor<4xf16>, %b: tensor<4xbf16>, %s: tensor<4xf32>)
    -> (tensor<4xf16>, tensor<4xbf16>, tensor<4xf32>) {
  %0 = mp.cast %h : tensor<4xf16> to tensor<4xf32>
  %1 = mp.cast %0 : tensor<4xf32> to tensor<4xf16>
  %2 = mp.cast %b : tensor<4xbf16> to tensor<4xf64>
  %3 = mp.cast %2 : tensor<4xf64> to tensor<4xbf16>
  %4 = mp.cast %s : tensor<4xf32> to tensor<4xf64>
  %5 = mp.cast %4 : tensor<4xf64> to tensor<4xf32>
  // CHECK-NEXT: return %[[H]], %[[B]], %[[S]]
  return %1, %3, %5 : tensor<4xf16>, tensor<4xbf16>, tensor<4xf32>
}

// A cast that rounds stays, and so does its return.
// CHECK-LABEL: @lossy
func.func @lossy(%s: tensor<4xf32>, %h: tensor<4xf16>, %b: tensor<4xbf16>, %x: tensor<4xf64>)
    -> (tensor<4xf32>, tensor<4xf16>, tensor<4xbf16>, tensor<4xf64>) {
  // CHECK-COUNT-8: mp.cast
  %0 = mp.cast %s : tensor<4xf32> to tensor<4xf16>
  %1 = mp.cast %0 : tensor<4xf16> to tensor<4xf32>
  %2 = mp.cast %h : tensor<4xf16> to tensor<4xbf16>
  %3 = mp.cast %2 : tensor<4xbf16> to tensor<4xf16>
  %4 = mp.cast %b : tensor<4xbf16> to tensor<4xf16>
  %5 = mp.cast %4 : tensor<4xf16> to tensor<4xbf16>
  %6 = mp.cast %x : tensor<4xf64> to tensor<4xf32>
  %7 = mp.cast %6 : tensor<4xf32> to tensor<4xf64>
  return %1, %3, %5, %7 : tensor<4xf32>, tensor<4xf16>, tensor<4xbf16>, tensor<4xf64>
}

// Integers in between lose values too.
// CHECK-LABEL: @integers
func.func @integers(%x: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK-COUNT-4: mp.cast
  %0 = mp.cast %x : tensor<4xf32> to tensor<4xi64>
  %1 = mp.cast %0 : tensor<4xi64> to tensor<4xf32>
  %2 = mp.cast %n : tensor<4xi32> to tensor<4xf32>
  %3 = mp.cast %2 : tensor<4xf32> to tensor<4xi32>
  return %1, %3 : tensor<4xf32>, tensor<4xi32>
}

// f16 to f32 to f64 and back to f32 is one cast.
// CHECK-LABEL: @chain
// CHECK-SAME: (%[[H:.*]]: tensor<4xf16>)
func.func @chain(%h: tensor<4xf16>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[WIDE:.*]] = mp.cast %[[H]] : tensor<4xf16> to tensor<4xf32>
  // CHECK-NEXT: return %[[WIDE]]
  %0 = mp.cast %h : tensor<4xf16> to tensor<4xf32>
  %1 = mp.cast %0 : tensor<4xf32> to tensor<4xf64>
  %2 = mp.cast %1 : tensor<4xf64> to tensor<4xf32>
  return %2 : tensor<4xf32>
}
