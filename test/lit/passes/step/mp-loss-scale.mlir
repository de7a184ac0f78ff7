// RUN: mp-opt %s -mp-autodiff -mp-loss-scale | FileCheck %s
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale=scaler=none | FileCheck %s --check-prefix=NONE
// RUN: not mp-opt %s -mp-autodiff -mp-loss-scale -mp-loss-scale 2>&1 | FileCheck %s --check-prefix=TWICE

mp.variable @w : tensor<4xf16> = #mp.init<zeros>
mp.variable @v : tensor<4xf32> = #mp.init<zeros>
// The scaler's fields become variables' initial values, after the others.
// CHECK: mp.variable scaler @amp.scale : tensor<f32> = #mp.init<constant, value = 1024> as <scale>
// CHECK: mp.variable scaler @amp.growth_tracker : tensor<i32> = #mp.init<zeros> as <tracker>

func.func @loss(%x: tensor<4xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4xf16>
  %wide = mp.cast %w : tensor<4xf16> to tensor<4xf32>
  %v = mp.read @v : tensor<4xf32>
  %0 = mp.mul %wide, %v : tensor<4xf32>, tensor<4xf32>
  %1 = mp.sum %0 dims[0] : tensor<4xf32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @step(
// CHECK-SAME: -> (tensor<f32>, tensor<4xf32> {mp.gradient = @w}, tensor<4xf32> {mp.gradient = @v}, tensor<f32> {mp.name = "scale"}, tensor<i1> {mp.name = "skipped"})
// CHECK: %[[K:.*]] = mp.read @amp.scale : tensor<f32>
// CHECK: %[[LOSS:.*]] = mp.sum
// CHECK: %[[SEED:.*]] = mp.seed : tensor<f32>
// CHECK-NEXT: %[[SCALED:.*]] = mp.scale %[[SEED]], %[[K]] : tensor<f32>, tensor<f32>
// CHECK-NEXT: mp.broadcast %[[SCALED]] : tensor<f32> to tensor<4xf32>
// CHECK: %[[W:.*]], %[[BAD_W:.*]] = mp.unscale_and_check %{{.*}}, %[[K]] : tensor<4xf16>, tensor<f32>
// CHECK-NEXT: %[[V:.*]], %[[BAD_V:.*]] = mp.unscale_and_check %{{.*}}, %[[K]] : tensor<4xf32>, tensor<f32>
// CHECK-NEXT: %[[BAD:.*]] = mp.or %[[BAD_W]], %[[BAD_V]] : tensor<i1>, tensor<i1>
// CHECK-NEXT: %[[T:.*]] = mp.read @amp.growth_tracker : tensor<i32>
// CHECK-NEXT: %[[K1:.*]], %[[T1:[^ ]*]], %{{.*}} = mp.update_scale %[[K]], %[[T]], %[[BAD]] {backoff_factor = 2.500000e-01 : f64, growth_interval = 7 : i64}
// CHECK-NEXT: mp.write @amp.scale, %[[K1]] : tensor<f32>
// CHECK-NEXT: mp.write @amp.growth_tracker, %[[T1]] : tensor<i32>
// CHECK-NEXT: return %[[LOSS]], %[[W]], %[[V]], %[[K]], %[[BAD]]

// NONE-NOT: mp.scale{{ }}
// NONE-NOT: mp.variable scaler

// TWICE: error: 'func.func' op is scaled already

mp.scaler @amp {init_scale = 1024.0, growth_interval = 7, backoff_factor = 0.25}
mp.train @step of @loss scaler(@amp) {
  mp.minimize result(0) {optimizer = #mp.sgd}
}
