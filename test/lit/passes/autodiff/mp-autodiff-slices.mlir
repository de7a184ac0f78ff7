// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autodiff=function=loss -canonicalize | FileCheck %s
// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autodiff=function=apart -canonicalize | FileCheck --check-prefix=APART %s

// Slices that lie side by side get one gradient: their gradients joined, not
// each filled up with zeros and added. Query, key and value of a transformer
// are such slices.
// CHECK-LABEL: func.func @loss.gradient(
// CHECK-NOT: mp.pad
// CHECK: mp.concat %{{.*}}, %{{.*}}, %{{.*}} dim(1) : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
// CHECK-NOT: mp.pad
// CHECK: return
func.func @loss(%x: tensor<?x6xf32>, %w: tensor<6xf32>) -> tensor<f32> {
  %y = mp.mul %x, %w : tensor<?x6xf32>, tensor<6xf32>
  %q = mp.slice %y offsets[0, 0] sizes[-1, 2] : tensor<?x6xf32>
  %k = mp.slice %y offsets[0, 2] sizes[-1, 2] : tensor<?x6xf32>
  %v = mp.slice %y offsets[0, 4] sizes[-1, 2] : tensor<?x6xf32>
  %0 = mp.mul %q, %k : tensor<?x2xf32>, tensor<?x2xf32>
  %1 = mp.mul %0, %v : tensor<?x2xf32>, tensor<?x2xf32>
  %2 = mp.sum %1 dims[0, 1] : tensor<?x2xf32>
  return %2 : tensor<f32>
}

// Slices with an element between them, or with one in common, are added up.
// APART-LABEL: func.func @apart.gradient(
// APART-DAG: %[[FIRST:.*]] = mp.pad %{{.*}} low[0, 0] high[0, 4] : tensor<4x2xf32>
// APART-DAG: %[[LAST:.*]] = mp.pad %{{.*}} low[0, 3] high[0, 1] : tensor<4x2xf32>
// APART-DAG: %[[COMMON:.*]] = mp.pad %{{.*}} low[0, 4] high[0, 0] : tensor<4x2xf32>
// APART-NOT: mp.concat
// APART: return
func.func @apart(%x: tensor<?x6xf32>) -> tensor<f32> {
  %y = mp.exp %x : tensor<?x6xf32>
  %first = mp.slice %y offsets[0, 0] sizes[-1, 2] : tensor<?x6xf32>
  %last = mp.slice %y offsets[0, 3] sizes[-1, 2] : tensor<?x6xf32>
  %common = mp.slice %y offsets[0, 4] sizes[-1, 2] : tensor<?x6xf32>
  %0 = mp.mul %first, %last : tensor<?x2xf32>, tensor<?x2xf32>
  %1 = mp.mul %0, %common : tensor<?x2xf32>, tensor<?x2xf32>
  %2 = mp.sum %1 dims[0, 1] : tensor<?x2xf32>
  return %2 : tensor<f32>
}
