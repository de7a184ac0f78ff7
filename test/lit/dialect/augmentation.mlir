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
