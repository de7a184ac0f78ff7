// RUN: mp-opt %s -mp-specialize=batch=4 -mp-autodiff=function=loss -canonicalize | FileCheck %s

// A class token and positions are repeated for each sample, and their gradients
// are sums over the batch.
// CHECK-LABEL: func.func @loss(
// CHECK: mp.broadcast %{{.*}} : tensor<1x1x2xf32> to tensor<4x1x2xf32>
// CHECK: mp.concat %{{.*}}, %{{.*}} dim(1) : tensor<4x1x2xf32>, tensor<4x3x2xf32>
// CHECK-LABEL: func.func @loss.gradient(
// CHECK: %[[SUM:.*]] = mp.broadcast %{{.*}} : tensor<f32> to tensor<4x4x2xf32>
// CHECK: %[[POSITION:.*]] = mp.sum %[[SUM]] dims[0] : tensor<4x4x2xf32>
// CHECK: %[[FIRST:.*]] = mp.slice %[[SUM]] offsets[0, 0, 0] sizes[-1, 1, -1] : tensor<4x4x2xf32>
// CHECK: %[[ROW:.*]] = mp.sum %[[FIRST]] dims[0] : tensor<4x1x2xf32>
// CHECK: %[[TOKEN:.*]] = mp.reshape %[[ROW]] : tensor<1x2xf32> to tensor<1x1x2xf32>
// CHECK: return %{{.*}}, %[[TOKEN]], %[[POSITION]]
func.func @loss(%x: tensor<?x3x2xf32>, %token: tensor<1x1x2xf32>, %position: tensor<4x2xf32>) -> tensor<f32> {
  %0 = mp.broadcast %token : tensor<1x1x2xf32> to tensor<?x1x2xf32>
  %1 = mp.concat %0, %x dim(1) : tensor<?x1x2xf32>, tensor<?x3x2xf32>
  %2 = mp.add %1, %position : tensor<?x4x2xf32>, tensor<4x2xf32>
  %3 = mp.sum %2 dims[0, 1, 2] : tensor<?x4x2xf32>
  return %3 : tensor<f32>
}
