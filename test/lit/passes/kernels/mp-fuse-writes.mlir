// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
mp.variable @w.copy : tensor<4xf16> = #mp.init<zeros>
mp.variable scaler @k : tensor<4xf32> = #mp.init<zeros>

// A value that is only written under a flag is computed under it, in one kernel.
// CHECK-LABEL: @predicated
// CHECK-SAME: %[[OK:[a-z0-9]*]]: tensor<i1>
func.func @predicated(%x: tensor<4xf32>, %ok: tensor<i1>) {
  // CHECK: %[[W:.*]] = mp.read @w
  // CHECK: %[[K:.*]]:2 = mp.kernel({{.*}}) if %[[OK]] attributes {ops = "add cast"} -> (tensor<4xf32>, tensor<4xf16>)
  // CHECK: mp.write @w, %[[K]]#0 if %[[OK]] : tensor<4xf32>
  // CHECK: mp.write @w.copy, %[[K]]#1 if %[[OK]] : tensor<4xf16>
  %w = mp.read @w : tensor<4xf32>
  %0 = mp.add %w, %x : tensor<4xf32>, tensor<4xf32>
  %1 = mp.cast %0 : tensor<4xf32> to tensor<4xf16>
  mp.write @w, %0 if %ok : tensor<4xf32>
  mp.write @w.copy, %1 if %ok : tensor<4xf16>
  return
}

// A value that is also written always is computed always.
// CHECK-LABEL: @both
func.func @both(%x: tensor<4xf32>, %ok: tensor<i1>) {
  // CHECK: mp.kernel(%{{.*}} = %{{.*}} : tensor<4xf32>) attributes {ops = "neg"}
  %0 = mp.neg %x : tensor<4xf32>
  mp.write @w, %0 if %ok : tensor<4xf32>
  mp.write @k, %0 : tensor<4xf32>
  return
}
