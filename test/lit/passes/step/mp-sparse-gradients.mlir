// RUN: mp-opt %s -mp-autodiff -mp-sparse-gradients | FileCheck %s --enable-var-scope
// RUN: mp-opt %s -mp-autodiff -mp-sparse-gradients -mp-sparse-gradients | FileCheck %s --enable-var-scope
// RUN: mp-opt %s -mp-autodiff -mp-sparse-gradients -mp-optimizer -mp-fuse | FileCheck %s --check-prefix=WRITES

// Two gathers of a table with five uses: their updates go to one table of five rows, the second into the first.
// CHECK: func.func @step(%{{.*}}: tensor<3xi32>, %{{.*}}: tensor<2xui32>) -> (tensor<f32>, tensor<5x4xf32> {mp.gradient = @table}, tensor<5xi32> {mp.gradient_rows = @table})
// CHECK-NOT: size(9)
// CHECK: mp.cast %{{.*}} : tensor<2xui32> to tensor<2xi64>
// CHECK: %[[ORDER:.*]] = mp.argsort
// CHECK: %[[FIRST:.*]] = mp.compare ne
// CHECK: mp.cumsum
// CHECK: %[[USED:.*]] = mp.scatter_add %{{.*}} dim(0) size(5) : tensor<5xi32>, tensor<5xi32>
// CHECK: %[[ROWS:.*]] = mp.sub %[[USED]]
// CHECK: mp.scatter_add %{{.*}}, %[[ORDER]] dim(0) size(5) : tensor<5xi32>, tensor<5xi32>
// CHECK: %[[ONE:.*]] = mp.scatter_add %{{.*}} dim(0) size(5) : tensor<{{.}}x4xf32>
// CHECK: %[[BOTH:.*]] = mp.scatter_add %{{.*}} into %[[ONE]] dim(0)
// CHECK-NOT: size(9)
// CHECK: return %{{.*}}, %[[BOTH]], %[[ROWS]]

// The rows are read, updated and replaced.
// WRITES-LABEL: func.func @step
// WRITES: %[[OLD:.*]] = mp.read @table : tensor<9x4xf32>
// WRITES: mp.kernel({{.*}} = %[[OLD]] : tensor<9x4xf32>) attributes {ops = "scatter_rows"}
// WRITES: mp.write @table
mp.variable @table : tensor<9x4xf32> = #mp.init<zeros>
func.func @loss(%i: tensor<3xi32>, %j: tensor<2xui32>) -> tensor<f32> {
  %t = mp.read @table : tensor<9x4xf32>
  %r = mp.gather %t, %i dim(0) : tensor<9x4xf32>, tensor<3xi32>
  %s = mp.gather %t, %j dim(0) : tensor<9x4xf32>, tensor<2xui32>
  %a = mp.sum %r dims[0, 1] : tensor<3x4xf32>
  %b = mp.sum %s dims[0, 1] : tensor<2x4xf32>
  %l = mp.add %a, %b : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<sparse = true>}
}
