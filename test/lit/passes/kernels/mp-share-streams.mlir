// Streams are operands of kernels, so that layers with dropout have the same kernels.
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse,mp-share-streams))' | FileCheck %s
// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse,mp-share-streams,mp-lower-kernels))' \
// RUN:   | FileCheck %s --check-prefix=STAGES
// RUN: mp-zoo char-gpt --layers 2 --tokens 32 --dropout 0.1 | mp-translate --mp-to-program --mp-batch=4 --mp-total-steps=10 \
// RUN:   | grep -c ^kernel >%t.two
// RUN: mp-zoo char-gpt --layers 5 --tokens 32 --dropout 0.1 | mp-translate --mp-to-program --mp-batch=4 --mp-total-steps=10 \
// RUN:   | grep -c ^kernel >%t.five
// RUN: cmp %t.two %t.five

// CHECK-LABEL: func.func @two(
// CHECK-DAG: %[[THREE:.*]] = mp.constant dense<3> : tensor<i64>
// CHECK-DAG: %[[NINE:.*]] = mp.constant dense<9> : tensor<i64>
// CHECK: mp.kernel({{.*}} %[[STREAM:[^ ]*]] = %[[THREE]] : tensor<i64>)
// CHECK: %[[NONE:.*]] = mp.constant dense<0> : tensor<i64>
// CHECK: mp.dropout {{.*}} stream(3) key(%{{[^,]*}}, %{{[^,]*}}, %[[NONE]], %{{[^,]*}}, %[[STREAM]])
// CHECK: mp.kernel({{.*}} = %[[NINE]] : tensor<i64>)
// CHECK: mp.dropout {{.*}} stream(9) key(

// No number of a stream is left in what is compiled.
// STAGES-LABEL: func.func @two(
// STAGES-NOT: arith.constant {{[39]}} : i64
// STAGES: func.func @one(
func.func @two(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %seed: tensor<i64>, %attempt: tensor<i64>) -> tensor<4x8xf32> {
  %a = mp.dropout %x stream(3) key(%seed, %attempt) {p = 0.5} : tensor<4x8xf32>
  %b = mp.linear %a, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %c = mp.dropout %b stream(9) key(%seed, %attempt) {p = 0.5} : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// One stream tells no kernels apart.
// CHECK-LABEL: func.func @one(
// CHECK: mp.dropout {{.*}} stream(3) key(%{{[^,]*}}, %{{[^,]*}}) :
func.func @one(%x: tensor<4xf32>, %seed: tensor<i64>, %attempt: tensor<i64>) -> tensor<4xf32> {
  %a = mp.dropout %x stream(3) key(%seed, %attempt) {p = 0.5} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// The time steps of a loop have the same kernels already: their number is a part of the key.
// CHECK-LABEL: func.func @loop(
// CHECK: mp.dropout {{.*}} stream(3) key(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) :
// CHECK: mp.dropout {{.*}} stream(4) key(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) :
func.func @loop(%x: tensor<4xf32>, %w: tensor<4xf32>, %seed: tensor<i64>, %attempt: tensor<i64>, %micro: tensor<i64>, %step: tensor<i64>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %a = mp.dropout %x stream(3) key(%seed, %attempt, %micro, %step) {p = 0.5} : tensor<4xf32>
  %b = mp.dropout %w stream(4) key(%seed, %attempt, %micro, %step) {p = 0.5} : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
