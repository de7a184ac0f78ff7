// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// CHECK: mp.variable @fc.weight : tensor<2x4xf32> = #mp.init<kaiming_uniform>
mp.variable @fc.weight : tensor<2x4xf32> = #mp.init<kaiming_uniform>
// CHECK: mp.variable @conv.weight : tensor<8x3x3x4xf32> dims_in_files[0, 3, 1, 2] = #mp.init<zeros>
mp.variable @conv.weight : tensor<8x3x3x4xf32> dims_in_files[0, 3, 1, 2] = #mp.init<zeros>
// CHECK: mp.variable slot @conv.exp_avg : tensor<2x4xf32> dims_in_files[1, 0] = #mp.init<zeros> as <slot of @fc.weight named "exp_avg">
mp.variable slot @conv.exp_avg : tensor<2x4xf32> dims_in_files[1, 0] = #mp.init<zeros> as <slot of @fc.weight named "exp_avg">
// CHECK: mp.variable @one : tensor<4xf32> dims_in_files[0] = #mp.init<zeros>
mp.variable @one : tensor<4xf32> dims_in_files[0] = #mp.init<zeros>
// CHECK: mp.variable @none : tensor<f32> dims_in_files[] = #mp.init<zeros>
mp.variable @none : tensor<f32> dims_in_files[] = #mp.init<zeros>
// CHECK: mp.variable @explicit : tensor<2xf32> = #mp.init<zeros>
mp.variable parameter @explicit : tensor<2xf32> = #mp.init<zeros>
// CHECK: mp.variable buffer @mean : tensor<4xf32> = #mp.init<constant, value = 5.000000e-01>
mp.variable buffer @mean : tensor<4xf32> = #mp.init<constant, value = 0.5>
// CHECK: mp.variable buffer @mask : tensor<4xf16> = #mp.init<constant, value = -inf>
mp.variable buffer @mask : tensor<4xf16> = #mp.init<constant, value = -inf>
// CHECK: mp.variable buffer @flag : tensor<4xi1> = #mp.init<constant, value = 1>
mp.variable buffer @flag : tensor<4xi1> = #mp.init<constant, value = 1>
// CHECK: mp.variable slot @moment : tensor<2x4xf32> = #mp.init<zeros>
mp.variable slot @moment : tensor<2x4xf32> = #mp.init<zeros>
// CHECK: mp.variable slot @exp_avg : tensor<2x4xf32> = #mp.init<zeros> as <slot of @fc.weight named "exp_avg">
mp.variable slot @exp_avg : tensor<2x4xf32> = #mp.init<zeros> as <slot of @fc.weight named "exp_avg">
// CHECK: mp.variable slot @smooth : tensor<2x4xf32> = #mp.init<zeros> as <average of @fc.weight>
mp.variable slot @smooth : tensor<2x4xf32> = #mp.init<zeros> as <average of @fc.weight>
// CHECK: mp.variable slot @applied : tensor<i64> = #mp.init<zeros> as <count>
mp.variable slot @applied : tensor<i64> = #mp.init<zeros> as <count>
// CHECK: mp.variable scaler @scale : tensor<f32> = #mp.init<constant, value = 65536>
mp.variable scaler @scale : tensor<f32> = #mp.init<constant, value = 65536.0>
// CHECK: mp.variable attempt @attempts : tensor<i64> = #mp.init<zeros>
mp.variable attempt @attempts : tensor<i64> = #mp.init<zeros>
// CHECK: mp.variable derived @fc.weight.f16 : tensor<2x4xf16> from @fc.weight
mp.variable derived @fc.weight.f16 : tensor<2x4xf16> from @fc.weight
// CHECK: mp.variable window @sum : tensor<2x4xf32> = #mp.init<zeros>
mp.variable window @sum : tensor<2x4xf32> = #mp.init<zeros>
// CHECK: mp.variable @"odd name" : tensor<0xf32> = #mp.init<uniform, a = -1, b = 1, fan_in = 784>
mp.variable @"odd name" : tensor<0xf32> = #mp.init<uniform, fan_in = 784, a = -1, b = 1.0>
// CHECK: mp.variable @normal : tensor<4xf32> = #mp.init<normal, mean = 1, std = 2.000000e-02>
mp.variable @normal : tensor<4xf32> = #mp.init<normal, mean = 1, std = 2.0e-2>

// CHECK-LABEL: @state
func.func @state(%ok: tensor<i1>) -> tensor<2x4xf32> {
  // CHECK: %[[W:.*]] = mp.read @fc.weight : tensor<2x4xf32>
  %w = mp.read @fc.weight : tensor<2x4xf32>
  // CHECK: mp.stop_gradient %[[W]] : tensor<2x4xf32>
  %s = mp.stop_gradient %w : tensor<2x4xf32>
  // CHECK: mp.write @fc.weight, %{{.*}} if %{{.*}} : tensor<2x4xf32>
  mp.write @fc.weight, %s if %ok : tensor<2x4xf32>
  // CHECK: mp.write @moment, %{{[^ ]*}} : tensor<2x4xf32>
  mp.write @moment, %s : tensor<2x4xf32>
  return %s : tensor<2x4xf32>
}
