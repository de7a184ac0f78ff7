// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-data-parallel="ranks=2 rows=16" | FileCheck %s
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-data-parallel="ranks=2 rows=16 bucket=8" | FileCheck %s --check-prefix=SMALL
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-data-parallel="ranks=2 rows=16 wire=f16" | FileCheck %s --check-prefix=WIRE
// RUN: mp-opt %s -mp-autodiff -mp-loss-scale -mp-data-parallel | FileCheck %s --check-prefix=ONE

mp.variable @w : tensor<4xf16> = #mp.init<ones>
mp.variable @b : tensor<4xf16> = #mp.init<ones>
mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>
mp.variable buffer @last : tensor<f32> = #mp.init<zeros>
mp.scaler @scaler

func.func @loss(%x: tensor<4xf16> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}, tensor<4xf16>) {
  %w = mp.read @w : tensor<4xf16>
  %b = mp.read @b : tensor<4xf16>
  %p = mp.mul %x, %w : tensor<4xf16>, tensor<4xf16>
  %y = mp.add %p, %b : tensor<4xf16>, tensor<4xf16>
  %wide = mp.cast %y : tensor<4xf16> to tensor<4xf32>
  %l = mp.sum %wide dims[0] : tensor<4xf32>
  %old = mp.read @mean : tensor<f32>
  %new = mp.add %old, %l : tensor<f32>, tensor<f32>
  mp.write @mean, %new : tensor<f32>
  mp.write @last, %l : tensor<f32>
  return %l, %y : tensor<f32>, tensor<4xf16>
}

// Results that are not single numbers are dropped, as in a step with micro-batches.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: -> (tensor<f32> {mp.name = "loss"}, tensor<4xf32> {mp.gradient = @w}, tensor<4xf32> {mp.gradient = @b}, tensor<f32> {mp.name = "scale"}, tensor<i1> {mp.name = "skipped"})
// CHECK-SAME: mp.ranks = 2
// A rank without rows gives zeros and no flag.
// CHECK: %[[IDLE:.*]] = mp.read @step.idle : tensor<i1>
// CHECK: %[[ROWS:.*]] = mp.select %[[IDLE]], %{{.*}}, %{{.*}} : tensor<i1>, tensor<f32>, tensor<f32>
// CHECK: %[[LOSS:.*]] = mp.select %[[IDLE]]
// CHECK: %[[B:[^ ,]*]], %[[BADB:[^ ]*]] = mp.unscale_and_check
// CHECK: %[[PARTB:.*]] = mp.mul %[[B]]
// CHECK: %[[GIVENB:.*]] = mp.select %[[IDLE]], %{{.*}}, %[[PARTB]]
// CHECK: %[[W:[^ ,]*]], %[[BADW:[^ ]*]] = mp.unscale_and_check
// CHECK: %[[PARTW:.*]] = mp.mul %[[W]]
// CHECK: %[[GIVENW:.*]] = mp.select %[[IDLE]], %{{.*}}, %[[PARTW]]

// The rows, the loss and the gradients travel together.
// CHECK: %[[SUM:.*]]:4 = mp.all_reduce sum %[[ROWS]], %[[LOSS]], %[[GIVENB]], %[[GIVENW]] : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[BAD:.*]] = mp.or
// CHECK: %[[BUSY:.*]] = mp.not %[[IDLE]]
// CHECK: %[[OWN:.*]] = mp.and %[[BAD]], %[[BUSY]]
// CHECK: %[[ANY:.*]] = mp.all_reduce or %[[OWN]]
// CHECK: mp.update_scale %{{.*}}, %{{.*}}, %[[ANY]]

// Each rank's own value is gathered once; the running sum follows the ranks in their order, and the last one stays.
// CHECK: %[[ALL:.*]] = mp.all_gather %{{.*}} ranks(2) : tensor<f32>
// CHECK: %[[IDLES:.*]] = mp.all_gather %[[IDLE]] ranks(2)
// CHECK: mp.slice %[[ALL]] offsets[0]
// CHECK: %[[OWN0:.*]] = mp.reshape {{.*}} to tensor<f32>
// CHECK: %[[FIRST:.*]] = mp.add %{{.*}}, %[[OWN0]]
// CHECK: mp.slice %[[ALL]] offsets[1]
// CHECK: %[[OWN1:.*]] = mp.reshape {{.*}} to tensor<f32>
// CHECK: mp.slice %[[IDLES]] offsets[1]
// CHECK: %[[IDLE1:.*]] = mp.reshape
// CHECK: %[[NEXT:.*]] = mp.add %[[FIRST]], %[[OWN1]]
// CHECK-DAG: %[[SECOND:.*]] = mp.select %[[IDLE1]], %[[FIRST]], %[[NEXT]]
// CHECK-DAG: %[[LAST:.*]] = mp.select %[[IDLE1]], %[[OWN0]], %[[OWN1]]
// CHECK-DAG: mp.write @mean, %[[SECOND]]
// CHECK-DAG: mp.write @last, %[[LAST]]
// CHECK: mp.div %[[SUM]]#{{.*}}, %[[SUM]]#0

// Buckets end with 8 bytes here.
// SMALL-LABEL: func.func @step(
// SMALL: mp.all_reduce sum %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
// SMALL: mp.all_reduce sum %{{.*}} : tensor<4xf32>
// SMALL: mp.all_reduce sum %{{.*}} : tensor<4xf32>

// On a wire of f16 the scaled gradients are added up, each rank's part of the mean, and checked then.
// WIRE-LABEL: func.func @step(
// WIRE: %[[ROWS:.*]] = mp.all_reduce sum %{{.*}} : tensor<f32>
// WIRE: %[[SHARE:.*]] = mp.div %{{.*}}, %[[ROWS]]
// WIRE: %[[PART:.*]] = mp.mul %{{.*}}, %[[SHARE]]
// WIRE: %[[GIVEN:.*]] = mp.select %{{.*}}, %{{.*}}, %[[PART]]
// WIRE: %[[NARROW:.*]] = mp.cast %[[GIVEN]] : tensor<4xf32> to tensor<4xf16>
// WIRE: mp.all_reduce sum %{{.*}}, %{{.*}} : tensor<4xf16>, tensor<4xf16>
// WIRE: mp.unscale_and_check

// ONE-NOT: mp.all_reduce
// ONE-NOT: mp.ranks

mp.train @step of @loss scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }
