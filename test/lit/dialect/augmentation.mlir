// RUN: mp-opt %s --split-input-file --verify-diagnostics | mp-opt --split-input-file | FileCheck %s
// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-set-mode=mode=eval | FileCheck %s --check-prefix=EVAL

// CHECK-LABEL: @moves
// EVAL-LABEL: @moves
func.func @moves(%x: tensor<?x28x28x3xui8>, %n: tensor<?xi32>, %f: tensor<?xi1>)
    -> (tensor<?x28x28x3xui8>, tensor<?x28x28x3xui8>) {
  // CHECK: mp.augment_images %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x28x28x3xui8>, tensor<?xi32>, tensor<?xi32>
  // EVAL-NOT: mp.augment_images
  // EVAL: return %arg0, %arg0
  %0 = mp.augment_images %x, %n, %n : tensor<?x28x28x3xui8>, tensor<?xi32>, tensor<?xi32>
  // CHECK: mirrored(%{{.*}} : tensor<?xi1>)
  %1 = mp.augment_images %x, %n, %n mirrored(%f : tensor<?xi1>)
      : tensor<?x28x28x3xui8>, tensor<?xi32>, tensor<?xi32>
  return %0, %1 : tensor<?x28x28x3xui8>, tensor<?x28x28x3xui8>
}

// -----

func.func @rank(%x: tensor<?x28x28xui8>, %n: tensor<?xi32>) {
  // expected-error @below {{input is not [batch, height, width, channels]: 'tensor<?x28x28xui8>'}}
  %0 = mp.augment_images %x, %n, %n : tensor<?x28x28xui8>, tensor<?xi32>, tensor<?xi32>
  return
}

// -----

func.func @numbers(%x: tensor<4x28x28x1xf32>, %n: tensor<4xi32>, %m: tensor<3xi32>) {
  // expected-error @below {{a number for each image is [batch]: 'tensor<3xi32>' for 'tensor<4x28x28x1xf32>'}}
  %0 = mp.augment_images %x, %n, %m : tensor<4x28x28x1xf32>, tensor<4xi32>, tensor<3xi32>
  return
}

// -----

// CHECK-LABEL: @crops
func.func @crops(%x: tensor<?x40x30x3xui8>, %n: tensor<?xf32>) -> tensor<?x32x24x3xui8> {
  // CHECK: mp.crop_resize %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} size[32, 24] : tensor<?x40x30x3xui8>, tensor<?xf32>
  %0 = mp.crop_resize %x, %n, %n, %n, %n size[32, 24] : tensor<?x40x30x3xui8>, tensor<?xf32>
  return %0 : tensor<?x32x24x3xui8>
}

// -----

func.func @box(%x: tensor<4x8x8x3xui8>, %n: tensor<1xf32>) {
  // expected-error @below {{a number for each image is [batch]: 'tensor<1xf32>' for 'tensor<4x8x8x3xui8>'}}
  %0 = mp.crop_resize %x, %n, %n, %n, %n size[4, 4] : tensor<4x8x8x3xui8>, tensor<1xf32>
  return
}

// -----

func.func @size(%x: tensor<4x8x8x3xui8>, %n: tensor<4xf32>) {
  // expected-error @below {{size has 1 numbers, expected 2: height and width}}
  %0 = mp.crop_resize %x, %n, %n, %n, %n size[4] : tensor<4x8x8x3xui8>, tensor<4xf32>
  return
}

// -----

func.func @empty(%x: tensor<4x8x8x3xui8>, %n: tensor<4xf32>) {
  // expected-error @below {{size has 0, expected a number from 1 to 2147483648}}
  %0 = mp.crop_resize %x, %n, %n, %n, %n size[0, 4] : tensor<4x8x8x3xui8>, tensor<4xf32>
  return
}

// -----

func.func @flat(%x: tensor<4x8x8xui8>, %n: tensor<4xf32>) {
  // expected-error @below {{input is not [batch, height, width, channels]: 'tensor<4x8x8xui8>'}}
  %0 = mp.crop_resize %x, %n, %n, %n, %n size[4, 4] : tensor<4x8x8xui8>, tensor<4xf32>
  return
}

// -----

func.func @signed(%x: tensor<4x8x8x1xi32>, %n: tensor<4xf32>) {
  // expected-error @below {{operand #0 must be ranked tensor of 64-bit float or 32-bit float or 16-bit float or bfloat16 type or 8-bit unsigned integer values, but got 'tensor<4x8x8x1xi32>'}}
  %0 = mp.crop_resize %x, %n, %n, %n, %n size[4, 4] : tensor<4x8x8x1xi32>, tensor<4xf32>
  return
}

// -----

// CHECK-LABEL: @modes
// EVAL-LABEL: @modes
func.func @modes(%x: tensor<?x4xui8>, %y: tensor<?x4xui8>) -> tensor<?x4xui8> {
  // CHECK: mp.in_training %{{.*}}, %{{.*}} : tensor<?x4xui8>, tensor<?x4xui8>
  // EVAL: return %arg1
  %0 = mp.in_training %x, %y : tensor<?x4xui8>, tensor<?x4xui8>
  return %0 : tensor<?x4xui8>
}

// -----

func.func @differ(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @below {{types in training and in evaluation differ: 'tensor<4xf32>' vs 'tensor<4xf16>'}}
  %0 = mp.in_training %x, %y : tensor<4xf32>, tensor<4xf16>
  return
}
