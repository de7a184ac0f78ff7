// RUN: mp-opt %s -pass-pipeline='builtin.module(func.func(mp-fuse))' | FileCheck %s

// A value that counts only if a flag is set is computed only then.
// CHECK-LABEL: @right_of_and
func.func @right_of_and(%x: tensor<4x8xf32>, %flag: tensor<i1>) -> tensor<i1> {
  // CHECK: %[[BAD:.*]] = mp.kernel(%{{.*}} = %arg0 : tensor<4x8xf32>) if %arg1 attributes {ops = "is_finite not any"} -> tensor<i1>
  // CHECK: mp.kernel(%{{.*}} = %arg1 : tensor<i1>, %{{.*}} = %[[BAD]] : tensor<i1>) attributes {ops = "and"}
  %0 = mp.is_finite %x : tensor<4x8xf32>
  %1 = mp.not %0 : tensor<4x8xi1>
  %2 = mp.any %1 dims[0, 1] : tensor<4x8xi1>
  %3 = mp.and %flag, %2 : tensor<i1>, tensor<i1>
  return %3 : tensor<i1>
}

// The left operand is always used.
// CHECK-LABEL: @left_of_and
func.func @left_of_and(%x: tensor<4xi1>, %flag: tensor<i1>) -> tensor<i1> {
  // CHECK-NOT: if %
  // CHECK: return
  %0 = mp.any %x dims[0] : tensor<4xi1>
  %1 = mp.and %0, %flag : tensor<i1>, tensor<i1>
  return %1 : tensor<i1>
}

// The first choice of a selection, and a value that is written, under one flag.
// CHECK-LABEL: @selected
mp.variable buffer @most : tensor<f32> = #mp.init<zeros>
func.func @selected(%x: tensor<4xf32>, %flag: tensor<i1>, %else: tensor<f32>) -> tensor<f32> {
  // CHECK: mp.kernel(%{{.*}} = %arg0 : tensor<4xf32>) if %arg1 attributes {ops = "max"}
  // CHECK: attributes {ops = "select"}
  %0 = mp.max %x dims[0] : tensor<4xf32>
  %1 = mp.select %flag, %0, %else : tensor<i1>, tensor<f32>, tensor<f32>
  mp.write @most, %0 if %flag : tensor<f32>
  return %1 : tensor<f32>
}

// Two flags, a use under none, and a value that is the flag itself.
// CHECK-LABEL: @not_guarded
mp.variable buffer @is : tensor<i1> = #mp.init<zeros>
func.func @not_guarded(%x: tensor<4xi1>, %y: tensor<8xi1>, %z: tensor<2xi1>, %a: tensor<i1>, %b: tensor<i1>)
    -> (tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>) {
  // CHECK-NOT: mp.kernel({{.*}}) if %
  // CHECK: return
  %0 = mp.any %x dims[0] : tensor<4xi1>
  %1 = mp.and %a, %0 : tensor<i1>, tensor<i1>
  %2 = mp.and %b, %0 : tensor<i1>, tensor<i1>
  %3 = mp.any %y dims[0] : tensor<8xi1>
  %4 = mp.and %a, %3 : tensor<i1>, tensor<i1>
  %5 = mp.any %z dims[0] : tensor<2xi1>
  mp.write @is, %5 if %5 : tensor<i1>
  return %1, %2, %3, %4 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>
}
