// RUN: mp-opt %s -mp-autodiff -mp-data-parallel=ranks=2 -mp-master-weights -mp-optimizer -mp-shard-optimizer=ranks=2 -canonicalize -cse | FileCheck %s
// RUN: mp-opt %s -mp-autodiff -mp-data-parallel=ranks=2 -mp-master-weights -mp-optimizer -mp-shard-optimizer=ranks=2 -canonicalize -cse \
// RUN:   | mp-opt -mp-shard-optimizer=ranks=2 -canonicalize -cse | FileCheck %s

// The graph reads a copy of @w alone, so its master and its average are divided; it reads @v itself, too.
// CHECK-DAG: mp.variable @w : tensor<8xf32> part_of tensor<3x5xf32> = #mp.init<ones>
// CHECK-DAG: mp.variable derived @w.bf16 : tensor<3x5xbf16> from @w
// CHECK-DAG: mp.variable slot @w.ema : tensor<8xf32> part_of tensor<3x5xf32> = #mp.init<zeros> as <average of @w>
// CHECK-DAG: mp.variable @v : tensor<3x5xf32> = #mp.init<ones>
// CHECK-DAG: mp.variable slot @v.ema : tensor<3x5xf32> = #mp.init<zeros> as <average of @v>
mp.variable @w : tensor<3x5xf32> = #mp.init<ones>
mp.variable @v : tensor<3x5xf32> = #mp.init<ones>

func.func @loss(%x: tensor<3x5xf32>) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<3x5xf32>
  %v = mp.read @v : tensor<3x5xf32>
  %low_w = mp.cast %w : tensor<3x5xf32> to tensor<3x5xbf16>
  %low_v = mp.cast %v : tensor<3x5xf32> to tensor<3x5xbf16>
  %low = mp.mul %low_w, %low_v : tensor<3x5xbf16>, tensor<3x5xbf16>
  %high = mp.cast %low : tensor<3x5xbf16> to tensor<3x5xf32>
  %x_v = mp.mul %x, %v : tensor<3x5xf32>, tensor<3x5xf32>
  %y = mp.mul %x_v, %high : tensor<3x5xf32>, tensor<3x5xf32>
  %l = mp.sum %y dims[0, 1] : tensor<3x5xf32>
  return %l : tensor<f32>
}

// A rank updates its part, and all gather the copy.
// CHECK-LABEL: func.func @step(
// CHECK: %[[W:.*]] = mp.read @w : tensor<8xf32>
// CHECK: %[[W1:[^ ,]*]] = mp.sgd{{.*}} %[[W]],
// CHECK-DAG: %[[LOW:.*]] = mp.cast %[[W1]] : tensor<8xf32> to tensor<8xbf16>
// CHECK-DAG: %[[ALL:.*]] = mp.all_gather %[[LOW]] ranks(2) : tensor<8xbf16>
// CHECK-DAG: mp.write @w, %[[W1]] : tensor<8xf32>
// CHECK-DAG: mp.write @w.ema, %{{.*}} : tensor<8xf32>
// CHECK-DAG: mp.write @w.bf16, %{{.*}} : tensor<3x5xbf16>

// CHECK-LABEL: func.func @derive()
// CHECK: %[[W:.*]] = mp.read @w : tensor<8xf32>
// CHECK: %[[LOW:.*]] = mp.cast %[[W]] : tensor<8xf32> to tensor<8xbf16>
// CHECK: mp.all_gather %[[LOW]] ranks(2) : tensor<8xbf16>
// CHECK: mp.write @w.bf16
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-1>, ema = 0.5} }
