// RUN: mp-opt %s -mp-autocast=dtype=f16 | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %s -mp-autocast=dtype=bf16 | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: mp-opt %s -mp-autocast=dtype=f16 -mp-autocast=dtype=f16 | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %s -mp-autocast=dtype=f32 | FileCheck %s --check-prefix=OFF
// RUN: mp-opt %s -mp-autocast | FileCheck %s --check-prefix=OFF
// OFF-NOT: to tensor<{{.*}}f16>

// An op that the policy allows runs low, and the op after it takes that type.
// CHECK-LABEL: @allow
func.func @allow(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
  // F16: %[[W:.*]] = mp.cast %{{.*}} : tensor<2x8xf32> to tensor<2x8xf16>
  // F16: %[[X:.*]] = mp.cast %{{.*}} : tensor<4x8xf32> to tensor<4x8xf16>
  // F16: %[[Y:.*]] = mp.linear %[[X]], %[[W]] : tensor<4x8xf16>, tensor<2x8xf16>
  // F16: %[[R:.*]] = mp.relu %[[Y]] : tensor<4x2xf16>
  // F16: return %[[R]] : tensor<4x2xf16>
  // BF16: mp.linear %{{.*}} : tensor<4x8xbf16>, tensor<2x8xbf16>
  // BF16: mp.relu %{{.*}} : tensor<4x2xbf16>
  %0 = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %1 = mp.relu %0 : tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// An op that it denies runs in f32.
// CHECK-LABEL: @deny
func.func @deny(%x: tensor<4x8xf16>, %y: tensor<4xui8>) -> tensor<f16> {
  // CHECK: %[[X:.*]] = mp.cast %{{.*}} : tensor<4x8xf16> to tensor<4x8xf32>
  // CHECK-NEXT: mp.softmax %[[X]] dim(1) : tensor<4x8xf32>
  // CHECK-NEXT: mp.log_softmax %[[X]] dim(1) : tensor<4x8xf32>
  // CHECK-NEXT: mp.sum %[[X]] dims[1] : tensor<4x8xf32>
  // CHECK-NEXT: mp.exp %[[X]] : tensor<4x8xf32>
  // CHECK-NEXT: mp.log %[[X]] : tensor<4x8xf32>
  %0 = mp.softmax %x dim(1) : tensor<4x8xf16>
  %1 = mp.log_softmax %x dim(1) : tensor<4x8xf16>
  %2 = mp.sum %x dims[1] : tensor<4x8xf16>
  %3 = mp.exp %x : tensor<4x8xf16>
  %4 = mp.log %x : tensor<4x8xf16>
  // CHECK-NEXT: %[[LOSS:.*]] = mp.cross_entropy %[[X]], %{{.*}} : tensor<4x8xf32>, tensor<4xui8>
  // CHECK-NEXT: return %[[LOSS]] : tensor<f32>
  %5 = mp.cross_entropy %x, %y : tensor<4x8xf16>, tensor<4xui8>
  return %5 : tensor<f16>
}

// An op that the policy does not list runs in the widest type of its operands, as
// tensors promote in PyTorch.
// CHECK-LABEL: @promote
func.func @promote(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = mp.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  // F16: %[[P:.*]] = mp.matmul {{.*}} : tensor<4x8xf16>, tensor<8x8xf16>
  // F16-NEXT: %[[WIDE:.*]] = mp.cast %[[P]] : tensor<4x8xf16> to tensor<4x8xf32>
  // F16-NEXT: mp.add %[[WIDE]], %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>
  %1 = mp.add %0, %x : tensor<4x8xf32>, tensor<4x8xf32>
  // F16-NEXT: mp.mul %[[P]], %[[P]] : tensor<4x8xf16>, tensor<4x8xf16>
  %2 = mp.mul %0, %0 : tensor<4x8xf32>, tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A value is cast to a type once, for all ops that use it.
// F16-LABEL: @once
func.func @once(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // F16-COUNT-2: mp.cast
  // F16-NOT: mp.cast
  %0 = mp.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = mp.matmul %x, %w transpose_b : tensor<4x8xf32>, tensor<8x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// f64 is for reference runs, and integers are never cast.
// CHECK-LABEL: @untouched
func.func @untouched(%d: tensor<4x4xf64>, %n: tensor<4xi32>) -> (tensor<4x4xf64>, tensor<4xi32>) {
  // CHECK-NOT: mp.cast
  // CHECK: mp.matmul %{{.*}} : tensor<4x4xf64>, tensor<4x4xf64>
  %0 = mp.matmul %d, %d : tensor<4x4xf64>, tensor<4x4xf64>
  // CHECK-NEXT: mp.exp %{{.*}} : tensor<4x4xf64>
  %1 = mp.exp %0 : tensor<4x4xf64>
  // CHECK-NEXT: mp.sum %{{.*}} dims[] : tensor<4xi32>
  %2 = mp.sum %n dims[] : tensor<4xi32>
  return %1, %2 : tensor<4x4xf64>, tensor<4xi32>
}

// CHECK: func.func private @declared
func.func private @declared(tensor<4xf32>)

// A variable keeps its type, so the value written to it is cast back.
mp.variable buffer @kept : tensor<4x2xf32> = #mp.init<zeros>
// CHECK-LABEL: @written
func.func @written(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) {
  // F16: %[[Y:.*]] = mp.linear {{.*}}xf16>
  // F16: %[[WIDE:.*]] = mp.cast %[[Y]] : tensor<4x2xf16> to tensor<4x2xf32>
  // F16: mp.write @kept, %[[WIDE]] : tensor<4x2xf32>
  %0 = mp.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  mp.write @kept, %0 : tensor<4x2xf32>
  return
}
