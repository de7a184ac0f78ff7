// RUN: mp-opt %s -mp-lint 2>&1 >/dev/null | FileCheck %s --check-prefix=ALL
// RUN: mp-opt %s -mp-lint="disable=softmax-without-max,no-master-weight" 2>&1 >/dev/null | FileCheck %s --check-prefix=SUM --implicit-check-not=softmax
// RUN: mp-opt %s -mp-lint="disable=sum-overflow,softmax-without-max" 2>&1 >/dev/null | count 0
// RUN: mp-opt %s -mp-lint="dtype=f32 disable=softmax-without-max" 2>&1 >/dev/null | count 0
// RUN: mp-opt %s -mp-lint="magnitude=0.01 disable=softmax-without-max" 2>&1 >/dev/null | count 0
// RUN: mp-opt %s -mp-lint="policy=keras" 2>&1 >/dev/null | FileCheck %s --check-prefix=KERAS
// RUN: mp-opt %s -mp-lint="disable=sum-overflow,softmax-without-max" | FileCheck %s --check-prefix=SAME
// RUN: mp-opt %s | FileCheck %s --check-prefix=SAME

// Findings are in the order of the text, for all checks.
// ALL: mp-lint-options.mlir:[[#@LINE+13]]:8: warning: 'mp.linear' may reach 72000 in f16, {{.*}} taken to be at most 1; {{.*}} [sum-overflow]
// ALL: mp-lint-options.mlir:[[#@LINE+13]]:8: warning: 'mp.exp' {{.*}} [softmax-without-max]
// ALL: note: summed here
// ALL-NOT: warning
// SUM: [sum-overflow]
// KERAS: warning: 'mp.linear' may reach 72000 in f16
// KERAS: warning: 'mp.exp' of numbers up to 65504 overflows f16

// SAME: mp.linear %arg0, %{{.*}} : tensor<?x72000xf32>, tensor<4x72000xf32>
// SAME-NOT: mp.cast
mp.variable @w : tensor<4x72000xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x72000xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<4x72000xf32>
  %y = mp.linear %x, %w : tensor<?x72000xf32>, tensor<4x72000xf32>
  %e = mp.exp %y : tensor<?x4xf32>
  %s = mp.sum %e dims[1] : tensor<?x4xf32>
  %l = mp.mean %s dims[0] : tensor<?xf32>
  return %l : tensor<f32>
}
mp.scaler @scaler
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) { mp.minimize result(0) {optimizer = #mp.sgd} }
