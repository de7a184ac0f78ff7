// RUN: mp-opt %s -mp-master-weights | FileCheck %s
// RUN: mp-opt %s -mp-master-weights -mp-master-weights | FileCheck %s

// An f32 parameter is its own master, with one copy a type that it is cast to.
// CHECK: mp.variable @w : tensor<4xf32> = #mp.init<kaiming_uniform>
// CHECK-DAG: mp.variable derived @w.f16 : tensor<4xf16> from @w
// CHECK-DAG: mp.variable derived @w.bf16 : tensor<4xbf16> from @w
mp.variable @w : tensor<4xf32> = #mp.init<kaiming_uniform>
// A 16-bit one gets an f32 master under its name, and is read as the copy.
// CHECK: mp.variable @low : tensor<4xf32> = #mp.init<zeros>
// CHECK-NEXT: mp.variable derived @low.bf16 : tensor<4xbf16> from @low
mp.variable @low : tensor<4xbf16> = #mp.init<zeros>
// CHECK: mp.variable buffer @mean : tensor<4xf32> = #mp.init<zeros>
mp.variable buffer @mean : tensor<4xf32> = #mp.init<zeros>

// CHECK-LABEL: func.func @f(
func.func @f() -> (tensor<4xf16>, tensor<4xf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xf16>, tensor<4xf64>) {
  // CHECK: %[[W:.*]] = mp.read @w : tensor<4xf32>
  %w = mp.read @w : tensor<4xf32>
  // CHECK: %[[A:.*]] = mp.read @w.f16 : tensor<4xf16>
  %a = mp.cast %w : tensor<4xf32> to tensor<4xf16>
  %again = mp.read @w : tensor<4xf32>
  // CHECK: %[[B:.*]] = mp.read @w.f16 : tensor<4xf16>
  %b = mp.cast %again : tensor<4xf32> to tensor<4xf16>
  // CHECK: %[[C:.*]] = mp.read @w.bf16 : tensor<4xbf16>
  %c = mp.cast %w : tensor<4xf32> to tensor<4xbf16>
  // CHECK: %[[LOW:.*]] = mp.read @low.bf16 : tensor<4xbf16>
  %low = mp.read @low : tensor<4xbf16>
  // A buffer is not a parameter, and a wider cast not a working copy.
  // CHECK: %[[MEAN:.*]] = mp.read @mean : tensor<4xf32>
  // CHECK: mp.cast %[[MEAN]] : tensor<4xf32> to tensor<4xf16>
  %mean = mp.read @mean : tensor<4xf32>
  %d = mp.cast %mean : tensor<4xf32> to tensor<4xf16>
  // CHECK: mp.cast %[[W]] : tensor<4xf32> to tensor<4xf64>
  %e = mp.cast %w : tensor<4xf32> to tensor<4xf64>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[LOW]]
  return %a, %b, %c, %low, %d, %e : tensor<4xf16>, tensor<4xf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xf16>, tensor<4xf64>
}

// Each copy is computed from its master.
// CHECK-LABEL: func.func @derive() {
// CHECK-COUNT-3: mp.write
// CHECK-NOT: mp.write
// CHECK: return
// CHECK-NOT: @derive
