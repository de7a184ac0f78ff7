// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=tf-fp16' | FileCheck %s
// RUN: mp-opt %s -mp-autocast='dtype=bf16 policy=tf-bf16' | FileCheck %s --check-prefix=BF16
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=torch mode=propagate' | FileCheck %s --check-prefix=TORCH
// RUN: not mp-opt %s -mp-autocast='dtype=bf16 policy=tf-fp16' 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: autocast to bf16 by policy tf-fp16, whose lists are for f16

// Without an op that is allowed nothing changes.
// CHECK-LABEL: @no_seed
func.func @no_seed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: mp.add %arg0, %arg0 : tensor<4x4xf32>
  %0 = mp.add %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK-NEXT: mp.relu
  %1 = mp.relu %0 : tensor<4x4xf32>
  // CHECK-NEXT: return
  return %1 : tensor<4x4xf32>
}

// A denied op denies inferred ops after it, and the clear op between them, up to an allowed one. The clear op
// before that is not between denied ones, and is coloured like the allowed op.
// CHECK-LABEL: @deny_forward
func.func @deny_forward(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: mp.exp %{{.*}} : tensor<4x4xf32>
  %deny = mp.exp %x : tensor<4x4xf32>
  // CHECK-NEXT: mp.add %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  %infer = mp.add %deny, %x : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK-NEXT: mp.relu %{{.*}} : tensor<4x4xf32>
  %clear = mp.relu %infer : tensor<4x4xf32>
  // CHECK-NEXT: %[[LAST:.*]] = mp.tanh %{{.*}} : tensor<4x4xf32>
  %infer2 = mp.tanh %clear : tensor<4x4xf32>
  // CHECK-NEXT: %[[LOW:.*]] = mp.cast %[[LAST]] : tensor<4x4xf32> to tensor<4x4xf16>
  // CHECK-NEXT: %[[CLEAR:.*]] = mp.relu %[[LOW]] : tensor<4x4xf16>
  %clear2 = mp.relu %infer2 : tensor<4x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = mp.matmul %[[CLEAR]], %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
  %allow = mp.matmul %clear2, %w : tensor<4x4xf32>, tensor<4x4xf32>
  // After the last allowed op an inferred one stays f32.
  // CHECK-NEXT: %[[WIDE:.*]] = mp.cast %[[Y]] : tensor<4x4xf16> to tensor<4x4xf32>
  // CHECK-NEXT: mp.tanh %[[WIDE]] : tensor<4x4xf32>
  %infer3 = mp.tanh %allow : tensor<4x4xf32>
  return %infer3 : tensor<4x4xf32>
}

// An inferred op runs low between two that are allowed, and so do the clear ops around it; a value that both
// colours read is cast once.
// CHECK-LABEL: @sandwich
func.func @sandwich(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: mp.matmul %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
  %0 = mp.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK: mp.add %{{.*}} : tensor<4x4xf16>, tensor<4xf16>
  %1 = mp.add %0, %b : tensor<4x4xf32>, tensor<4xf32>
  // CHECK: %[[T:.*]] = mp.tanh %{{.*}} : tensor<4x4xf16>
  %2 = mp.tanh %1 : tensor<4x4xf32>
  // CHECK: %[[M:.*]] = mp.matmul %[[T]], %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
  %3 = mp.matmul %2, %w : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK: %[[R:.*]] = mp.relu %[[M]] : tensor<4x4xf16>
  %4 = mp.relu %3 : tensor<4x4xf32>
  // CHECK: mp.exp %[[TWIDE:.*]] : tensor<4x4xf32>
  %5 = mp.exp %2 : tensor<4x4xf32>
  // CHECK: mp.sub %[[TWIDE]], %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
  %6 = mp.sub %2, %5 : tensor<4x4xf32>, tensor<4x4xf32>
  // Results of the function keep their types.
  // CHECK: return %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return %4, %6, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// A batch norm between products: its data go low, its statistics and parameters stay f32.
// CHECK-LABEL: @batch_norm
func.func @batch_norm(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = mp.matmul %x, %w : tensor<8x4xf32>, tensor<4x4xf32>
  // CHECK: mp.batch_norm %{{.*}}, %arg2, %arg3 weight(%arg4 : tensor<4xf32>) : tensor<8x4xf16>, tensor<4xf32>, tensor<4xf32>
  %1:5 = mp.batch_norm %0, %m, %v weight(%g : tensor<4xf32>) : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
  // CHECK: mp.relu %{{.*}} : tensor<8x4xf16>
  %2 = mp.relu %1#0 : tensor<8x4xf32>
  %3 = mp.matmul %2, %w : tensor<8x4xf32>, tensor<4x4xf32>
  return %3, %1#3, %1#4 : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A cast that all users read as f16 casts to f16 directly.
// CHECK-LABEL: @retarget
func.func @retarget(%x: tensor<4x4xui8>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[X:.*]] = mp.cast %arg0 : tensor<4x4xui8> to tensor<4x4xf16>
  %0 = mp.cast %x : tensor<4x4xui8> to tensor<4x4xf32>
  // CHECK: mp.matmul %[[X]], %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
  %1 = mp.matmul %0, %w : tensor<4x4xf32>, tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// The mean is denied in f16, for its range, and inferred in bf16, whose range suffices.
// CHECK-LABEL: @by_type
// BF16-LABEL: @by_type
func.func @by_type(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = mp.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  // CHECK: mp.mean %{{.*}} : tensor<4x4xf32>
  // BF16: mp.mean %{{.*}} : tensor<4x4xbf16>
  %1 = mp.mean %0 dims[1] keepdim : tensor<4x4xf32>
  // CHECK: mp.sub %{{.*}} : tensor<4x4xf32>, tensor<4x1xf32>
  // BF16: mp.sub %{{.*}} : tensor<4x4xbf16>, tensor<4x1xbf16>
  %2 = mp.sub %0, %1 : tensor<4x4xf32>, tensor<4x1xf32>
  %3 = mp.matmul %2, %w : tensor<4x4xf32>, tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// PyTorch's lists, coloured: ops that run natively there are inferred.
// TORCH-LABEL: @torch
func.func @torch(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // TORCH: mp.gelu %{{.*}} : tensor<4x4xf32>
  %0 = mp.gelu %x : tensor<4x4xf32>
  %1 = mp.matmul %0, %w : tensor<4x4xf32>, tensor<4x4xf32>
  // TORCH: mp.gelu %{{.*}} : tensor<4x4xf16>
  %2 = mp.gelu %1 : tensor<4x4xf32>
  %3 = mp.matmul %2, %w : tensor<4x4xf32>, tensor<4x4xf32>
  // TORCH: mp.softmax %{{.*}} : tensor<4x4xf32>
  %4 = mp.softmax %3 dim(1) : tensor<4x4xf32>
  // TORCH: mp.gelu %{{.*}} : tensor<4x4xf32>
  %5 = mp.gelu %4 : tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}
