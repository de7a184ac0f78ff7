// RUN: mp-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @nothing_moves
// CHECK-SAME: (%[[X:.*]]: tensor<?x3xf32>, %[[Y:.*]]: tensor<1x3xf32>)
func.func @nothing_moves(%x: tensor<?x3xf32>, %y: tensor<1x3xf32>) -> (tensor<?x3xf32>, tensor<1x3xf32>) {
  // CHECK-NEXT: return %[[X]], %[[Y]]
  %0 = mp.slice %x offsets[0, 0] sizes[-1, 3] strides[1, 1] : tensor<?x3xf32>
  %1 = mp.pad %0 low[0, 0] high[0, 0] value(1.0) : tensor<?x3xf32>
  %2 = mp.concat %1 dim(0) : tensor<?x3xf32>
  %3 = mp.pad %y low[0, 0] high[0, 0] interior[4, 0] : tensor<1x3xf32>
  %4 = mp.slice %3 offsets[0, 0] sizes[1, -1] strides[7, 1] : tensor<1x3xf32>
  %5 = mp.cumsum %4 dim(0) reverse : tensor<1x3xf32>
  return %2, %5 : tensor<?x3xf32>, tensor<1x3xf32>
}

// CHECK-LABEL: @slice_of_slice
// CHECK-SAME: (%[[X:.*]]: tensor<?x20xf32>)
func.func @slice_of_slice(%x: tensor<?x20xf32>) -> (tensor<?x3xf32>, tensor<?x2xf32>) {
  // CHECK-NEXT: %[[A:.*]] = mp.slice %[[X]] offsets[0, 5] sizes[-1, 3] strides[1, 4] : tensor<?x20xf32>
  // CHECK-NEXT: %[[B:.*]] = mp.slice %[[X]] offsets[0, 4] sizes[-1, 2] : tensor<?x20xf32>
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = mp.slice %x offsets[0, 3] sizes[-1, 8] strides[1, 2] : tensor<?x20xf32>
  %1 = mp.slice %0 offsets[0, 1] sizes[-1, 3] strides[1, 2] : tensor<?x8xf32>
  %2 = mp.slice %x offsets[0, 3] sizes[-1, 8] : tensor<?x20xf32>
  %3 = mp.slice %2 offsets[0, 1] sizes[-1, 2] : tensor<?x8xf32>
  return %1, %3 : tensor<?x3xf32>, tensor<?x2xf32>
}

// A single element has any stride, so a product need not fit.
// CHECK-LABEL: @slice_of_one
// CHECK-SAME: (%[[X:.*]]: tensor<5xf32>)
func.func @slice_of_one(%x: tensor<5xf32>) -> tensor<1xf32> {
  // CHECK-NEXT: mp.slice %[[X]] offsets[3] sizes[1] strides[1] : tensor<5xf32>
  %0 = mp.slice %x offsets[1] sizes[2] strides[2] : tensor<5xf32>
  %1 = mp.slice %0 offsets[1] sizes[1] strides[9223372036854775807] : tensor<2xf32>
  return %1 : tensor<1xf32>
}

// CHECK-LABEL: @slice_of_concat
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[Y:.*]]: tensor<4x5xf32>)
func.func @slice_of_concat(%x: tensor<4x3xf32>, %y: tensor<4x5xf32>) -> (tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x2xf32>) {
  // CHECK: %[[B:.*]] = mp.slice %[[Y]] offsets[1, 0] sizes[2, 3] strides[1, 2] : tensor<4x5xf32>
  // CHECK: %[[C:.*]] = mp.slice %{{.*}} offsets[0, 2] sizes[4, 2] : tensor<4x8xf32>
  // CHECK: return %[[X]], %[[B]], %[[C]]
  %0 = mp.concat %x, %y dim(1) : tensor<4x3xf32>, tensor<4x5xf32>
  %1 = mp.slice %0 offsets[0, 0] sizes[4, 3] : tensor<4x8xf32>
  %2 = mp.slice %0 offsets[1, 3] sizes[2, -1] strides[1, 2] : tensor<4x8xf32>
  %3 = mp.slice %0 offsets[0, 2] sizes[4, 2] : tensor<4x8xf32>
  return %1, %2, %3 : tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x2xf32>
}

// CHECK-LABEL: @slice_of_pad
// CHECK-SAME: (%[[X:.*]]: tensor<?x5xf32>)
func.func @slice_of_pad(%x: tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  // CHECK-NEXT: %[[P:.*]] = mp.pad %[[X]]
  // CHECK-NEXT: %[[B:.*]] = mp.slice %[[X]] offsets[0, 2] sizes[-1, 2] strides[1, 2] : tensor<?x5xf32>
  // CHECK-NEXT: %[[C:.*]] = mp.slice %[[P]] offsets[0, 0] sizes[-1, 2] : tensor<?x8xf32>
  // CHECK-NEXT: return %[[X]], %[[B]], %[[C]]
  %0 = mp.pad %x low[0, 1] high[0, 2] : tensor<?x5xf32>
  %1 = mp.slice %0 offsets[0, 1] sizes[-1, 5] : tensor<?x8xf32>
  %2 = mp.slice %0 offsets[0, 3] sizes[-1, 2] strides[1, 2] : tensor<?x8xf32>
  %3 = mp.slice %0 offsets[0, 0] sizes[-1, 2] : tensor<?x8xf32>
  return %1, %2, %3 : tensor<?x5xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}

// CHECK-LABEL: @pad_of_pad
// CHECK-SAME: (%[[X:.*]]: tensor<?x5xf32>)
func.func @pad_of_pad(%x: tensor<?x5xf32>) -> (tensor<?x18xf32>, tensor<?x9xf32>) {
  // CHECK-NEXT: mp.pad %[[X]] low[0, 3] high[0, 6] interior[0, 1] value(2.000000e+00) : tensor<?x5xf32>
  // CHECK-NEXT: mp.pad %[[X]] low[0, 1] high[0, 1] : tensor<?x5xf32>
  // CHECK-NEXT: mp.pad %{{.*}} low[0, 1] high[0, 1] value(2.000000e+00) : tensor<?x7xf32>
  %0 = mp.pad %x low[0, 1] high[0, 2] interior[0, 1] value(2.0) : tensor<?x5xf32>
  %1 = mp.pad %0 low[0, 2] high[0, 4] value(2.0) : tensor<?x12xf32>
  %2 = mp.pad %x low[0, 1] high[0, 1] : tensor<?x5xf32>
  %3 = mp.pad %2 low[0, 1] high[0, 1] value(2.0) : tensor<?x7xf32>
  return %1, %3 : tensor<?x18xf32>, tensor<?x9xf32>
}

// CHECK-LABEL: @concat_of_concat
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[Y:.*]]: tensor<4x5xf32>, %[[Z:.*]]: tensor<4x0xf32>)
func.func @concat_of_concat(%x: tensor<4x3xf32>, %y: tensor<4x5xf32>, %z: tensor<4x0xf32>) -> (tensor<4x11xf32>, tensor<4x3xf32>) {
  // CHECK-NEXT: %[[A:.*]] = mp.concat %[[X]], %[[Y]], %[[X]] dim(1) : tensor<4x3xf32>, tensor<4x5xf32>, tensor<4x3xf32>
  // CHECK-NEXT: return %[[A]], %[[X]]
  %0 = mp.concat %x, %y dim(1) : tensor<4x3xf32>, tensor<4x5xf32>
  %1 = mp.concat %0, %z, %x dim(1) : tensor<4x8xf32>, tensor<4x0xf32>, tensor<4x3xf32>
  %2 = mp.concat %z, %x dim(1) : tensor<4x0xf32>, tensor<4x3xf32>
  return %1, %2 : tensor<4x11xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: @constants
func.func @constants() -> (tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[A:.*]] = mp.constant dense<2.000000e+00> : tensor<2xf32>
  // CHECK-DAG: %[[B:.*]] = mp.constant dense<2.000000e+00> : tensor<4xf32>
  // CHECK: %[[C:.*]] = mp.pad
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
  %0 = mp.constant dense<2.0> : tensor<3xf32>
  %1 = mp.slice %0 offsets[1] sizes[2] : tensor<3xf32>
  %2 = mp.pad %0 low[1] high[0] value(2.0) : tensor<3xf32>
  %3 = mp.pad %0 low[1] high[0] : tensor<3xf32>
  return %1, %2, %3 : tensor<2xf32>, tensor<4xf32>, tensor<4xf32>
}

// Zeros are the default base and are omitted, negative zeros are not.
// CHECK-LABEL: @scatter_into_zeros
func.func @scatter_into_zeros(%u: tensor<2x3xf32>, %i: tensor<2xi32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  // CHECK: mp.scatter_add %{{.*}}, %{{.*}} dim(0) size(4) : tensor<2x3xf32>, tensor<2xi32>
  %0 = mp.constant dense<0.0> : tensor<4x3xf32>
  %1 = mp.scatter_add %u, %i into %0 dim(0) : tensor<2x3xf32>, tensor<2xi32>, tensor<4x3xf32>
  // CHECK: mp.scatter_add %{{.*}}, %{{.*}} into %{{.*}} dim(0)
  %2 = mp.constant dense<-0.0> : tensor<4x3xf32>
  %3 = mp.scatter_add %u, %i into %2 dim(0) : tensor<2x3xf32>, tensor<2xi32>, tensor<4x3xf32>
  return %1, %3 : tensor<4x3xf32>, tensor<4x3xf32>
}
