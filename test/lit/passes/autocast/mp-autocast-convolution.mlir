// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=torch' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=torch-2.12' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=torch-cpu' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=tf-fp16' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=bf16 policy=tf-bf16' | FileCheck %s '-D$LOW=bf16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=apex-o1' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=apex-o2' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=apex-o3' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=relay' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=relax' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=keras' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=jmp' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=ort' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=fp8' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=apex-o0' | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: mp-opt %s -mp-autocast='dtype=f16 mode=propagate' | FileCheck %s '-D$LOW=f16' --check-prefixes=CHECK,LOW
// RUN: mp-opt %s -mp-autocast='dtype=f16 deny=conv2d,conv_transpose2d' | FileCheck %s --check-prefixes=CHECK,WIDE

// Every system casts convolutions down: the input, the weight and the bias.
// CHECK-LABEL: @net
func.func @net(%x: tensor<2x8x8x3xf32>, %w: tensor<6x3x3x3xf32>, %b: tensor<6xf32>, %u: tensor<6x3x3x3xf32>) -> tensor<2x8x8x3xf32> {
  // LOW: mp.conv2d %{{.*}} : tensor<2x8x8x3x[[$LOW]]>, tensor<6x3x3x3x[[$LOW]]>, tensor<6x[[$LOW]]>
  // WIDE: mp.conv2d %{{.*}} : tensor<2x8x8x3xf32>, tensor<6x3x3x3xf32>, tensor<6xf32>
  %0 = mp.conv2d %x, %w, %b : tensor<2x8x8x3xf32>, tensor<6x3x3x3xf32>, tensor<6xf32>
  // LOW: mp.conv_transpose2d %{{.*}} : tensor<2x6x6x6x[[$LOW]]>, tensor<6x3x3x3x[[$LOW]]>
  // WIDE: mp.conv_transpose2d %{{.*}} : tensor<2x6x6x6xf32>, tensor<6x3x3x3xf32>
  %1 = mp.conv_transpose2d %0, %u size[8, 8] : tensor<2x6x6x6xf32>, tensor<6x3x3x3xf32>
  return %1 : tensor<2x8x8x3xf32>
}

// RUN: mp-opt %s -mp-autocast=dtype=tf32 | FileCheck %s --check-prefix=TF32
// TF32: mp.conv2d %{{.*}} {compute = tf32} : tensor<2x8x8x3xf32>
// TF32: mp.conv_transpose2d %{{.*}} {compute = tf32} : tensor<2x6x6x6xf32>
