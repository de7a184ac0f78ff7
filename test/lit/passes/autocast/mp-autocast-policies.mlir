// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=torch' | FileCheck %s --check-prefix=TORCH
// RUN: mp-opt %s -mp-autocast='dtype=bf16 policy=torch-cpu' | FileCheck %s --check-prefix=CPU
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=apex-o1' | FileCheck %s --check-prefix=O1
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=apex-o2' | FileCheck %s --check-prefix=O2
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=relay' | FileCheck %s --check-prefix=RELAY
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=relax' | FileCheck %s --check-prefix=RELAX
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=keras' | FileCheck %s --check-prefix=KERAS
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=jmp:p=f32,c=f16,o=f32' | FileCheck %s --check-prefix=JMP
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=jmp:c=f16,o=f16' | FileCheck %s --check-prefix=HALF
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=ort' | FileCheck %s --check-prefix=ORT

// One graph under each system's rules.
func.func @loss(%x: tensor<4x8xf32>, %label: tensor<4xui8>) -> (tensor<f32>, tensor<4x8xf32>) {
  %w = mp.read @w : tensor<8x8xf32>
  // TORCH: mp.linear %{{.*}} : tensor<4x8xf16>, tensor<8x8xf16>
  // CPU: mp.linear %{{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16>
  // RELAX: mp.linear %{{.*}} : tensor<4x8xf16>, tensor<8x8xf16>
  %h = mp.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  // TORCH: mp.gelu %{{.*}} : tensor<4x8xf16>
  // O1: mp.gelu %{{.*}} : tensor<4x8xf32>
  // RELAY: mp.gelu %{{.*}} : tensor<4x8xf16>
  %a = mp.gelu %h : tensor<4x8xf32>
  // TORCH: mp.exp %{{.*}} : tensor<4x8xf32>
  // CPU: mp.exp %{{.*}} : tensor<4x8xbf16>
  // RELAY: mp.exp %{{.*}} : tensor<4x8xf32>
  // RELAX: mp.exp %{{.*}} : tensor<4x8xf16>
  // JMP: mp.exp %{{.*}} : tensor<4x8xf16>
  %e = mp.exp %a : tensor<4x8xf32>
  // TORCH: mp.layer_norm %{{.*}} : tensor<4x8xf32>
  // O2: mp.layer_norm %{{.*}} : tensor<4x8xf16>
  // KERAS: mp.layer_norm %{{.*}} : tensor<4x8xf16>
  %n:3 = mp.layer_norm %e normalized_shape[8] : tensor<4x8xf32>
  // O1: mp.cross_entropy %{{.*}} : tensor<4x8xf32>
  // O2: mp.cross_entropy %{{.*}} : tensor<4x8xf32>
  // KERAS: mp.cross_entropy %{{.*}} : tensor<4x8xf32>
  // JMP: %[[L:.*]] = mp.cross_entropy %{{.*}} : tensor<4x8xf16>
  // HALF: %[[L:.*]] = mp.cross_entropy %{{.*}} : tensor<4x8xf16>
  // ORT: mp.cross_entropy %{{.*}} : tensor<4x8xf32>
  %l = mp.cross_entropy %n#0, %label : tensor<4x8xf32>, tensor<4xui8>
  // JMP: mp.cast %[[L]] : tensor<f16> to tensor<f32>
  // JMP: return %{{.*}} : tensor<f32>, tensor<4x8xf32>
  // HALF: return %[[L]], %{{.*}} : tensor<f16>, tensor<4x8xf16>
  return %l, %a : tensor<f32>, tensor<4x8xf32>
}
mp.variable @w : tensor<8x8xf32> = #mp.init<zeros>
