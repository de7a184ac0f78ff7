// RUN: mp-opt %s -mp-autodiff -mp-data-parallel=ranks=2 -mp-optimizer -mp-shard-optimizer=ranks=2 -canonicalize -cse | FileCheck %s

// CHECK-DAG: mp.variable slot @w.momentum_buffer : tensor<8xf32> part_of tensor<3x5xf32> = #mp.init<zeros> as <slot of @w named "momentum_buffer">
// CHECK-DAG: mp.variable slot @step.applied : tensor<i64>
mp.variable @w : tensor<3x5xf32> = #mp.init<ones>

func.func @loss(%x: tensor<3x5xf32>) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<3x5xf32>
  %y = mp.mul %x, %w : tensor<3x5xf32>, tensor<3x5xf32>
  %l = mp.sum %y dims[0, 1] : tensor<3x5xf32>
  return %l : tensor<f32>
}

// The parts of parameter and gradient are taken by the number of the rank.
// CHECK-LABEL: func.func @step(
// CHECK: %[[RANK:.*]] = mp.rank
// CHECK: %[[M:.*]] = mp.read @w.momentum_buffer : tensor<8xf32>
// CHECK: %[[PADDED:.*]] = mp.pad %{{.*}} low[0] high[1]
// CHECK: %[[DIVIDED:.*]] = mp.reshape %[[PADDED]] : tensor<16xf32> to tensor<2x8xf32>
// CHECK: %[[W:.*]] = mp.gather %[[DIVIDED]], %[[RANK]] dim(0) : tensor<2x8xf32>, tensor<i64>
// CHECK: %[[G:.*]] = mp.gather %{{.*}}, %[[RANK]] dim(0)
// CHECK: %[[W1:[^ ,]*]], %[[M1:[^ ]*]] = mp.sgd{{.*}} %[[W]], %[[G]],
// CHECK: %[[ALL:.*]] = mp.all_gather %[[W1]] ranks(2) : tensor<8xf32>
// CHECK: %[[FLAT:.*]] = mp.reshape %[[ALL]] : tensor<2x8xf32> to tensor<16xf32>
// CHECK: %[[CUT:.*]] = mp.slice %[[FLAT]] offsets[0] sizes[15]
// CHECK: %[[WHOLE:.*]] = mp.reshape %[[CUT]] : tensor<15xf32> to tensor<3x5xf32>
// CHECK-DAG: mp.write @w.momentum_buffer, %[[M1]] : tensor<8xf32>
// CHECK-DAG: mp.write @w, %[[WHOLE]] : tensor<3x5xf32>
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-1, momentum = 9.0e-1>} }
