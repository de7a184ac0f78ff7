// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @logits(%x: tensor<10xf32>, %y: tensor<ui8>) {
  // expected-error@+1 {{scores must have two dimensions or more, rows and classes: 'tensor<10xf32>'}}
  %0 = mp.cross_entropy %x, %y : tensor<10xf32>, tensor<ui8>
  return
}

// -----

func.func @rows(%x: tensor<4x10xf32>, %y: tensor<3xui8>) {
  // expected-error@+1 {{labels 'tensor<3xui8>' do not have the scores' rows: 'tensor<4x10xf32>'}}
  %0 = mp.accuracy %x, %y : tensor<4x10xf32>, tensor<3xui8>
  return
}

// -----

func.func @label_rank(%x: tensor<4x10xf32>, %y: tensor<4x10xi64>) {
  // expected-error@+1 {{labels 'tensor<4x10xi64>' do not have the scores' rows: 'tensor<4x10xf32>'}}
  %0 = mp.cross_entropy %x, %y : tensor<4x10xf32>, tensor<4x10xi64>
  return
}

// -----

func.func @smoothing(%x: tensor<4x10xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{label_smoothing is 1.500000e+00, expected 0 to 1}}
  %0 = mp.cross_entropy %x, %y {label_smoothing = 1.5} : tensor<4x10xf32>, tensor<4xui8>
  return
}

// -----

// Labels are compared as 32-bit numbers.
func.func @ignore_index(%x: tensor<4x10xf32>, %y: tensor<4xi64>) {
  // expected-error@+1 {{ignore_index is 4294967296, expected a 32-bit number}}
  %0 = mp.cross_entropy %x, %y {ignore_index = 4294967296} : tensor<4x10xf32>, tensor<4xi64>
  return
}

// -----

func.func @field(%x: tensor<4x10xf32>, %y: tensor<4xi64>) {
  // expected-error@+1 {{unknown attribute 'smoothing', expected dim, ignore_index, label_smoothing, reduction}}
  %0 = mp.cross_entropy %x, %y {smoothing = 0.1} : tensor<4x10xf32>, tensor<4xi64>
  return
}

// -----

func.func @float_labels(%x: tensor<4x10xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{probabilities 'tensor<4xf32>' are not of the scores' type: 'tensor<4x10xf32>'}}
  %0 = mp.cross_entropy %x, %y : tensor<4x10xf32>, tensor<4xf32>
  return
}

// -----

func.func @gradient_shape(%g: tensor<4xf32>, %x: tensor<4x10xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{gradient 'tensor<4xf32>' is not of the loss's type: 'tensor<f32>'}}
  %0 = mp.cross_entropy_backward %g, %x, %y : tensor<4xf32>, tensor<4x10xf32>, tensor<4xui8>
  return
}

// -----

func.func @gradient_element(%g: tensor<f32>, %x: tensor<4x10xf16>, %y: tensor<4xui8>) {
  // expected-error@+1 {{gradient 'tensor<f32>' is not of the loss's type: 'tensor<f16>'}}
  %0 = mp.cross_entropy_backward %g, %x, %y : tensor<f32>, tensor<4x10xf16>, tensor<4xui8>
  return
}

// -----

func.func @no_class(%x: tensor<4x0xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{there is no class in 'tensor<4x0xf32>'}}
  %0 = mp.cross_entropy %x, %y : tensor<4x0xf32>, tensor<4xui8>
  return
}

// -----

func.func @weight(%x: tensor<4x10xf32>, %y: tensor<4xui8>, %w: tensor<4xf32>) {
  // expected-error@+1 {{weight 'tensor<4xf32>' is not one number for each class: 'tensor<10xf32>'}}
  %0 = mp.cross_entropy %x, %y weight(%w : tensor<4xf32>) : tensor<4x10xf32>, tensor<4xui8>
  return
}

// -----

func.func @weight_element(%x: tensor<4x10xf16>, %y: tensor<4xui8>, %w: tensor<10xf32>) {
  // expected-error@+1 {{weight 'tensor<10xf32>' is not one number for each class: 'tensor<10xf16>'}}
  %0 = mp.nll_loss %x, %y weight(%w : tensor<10xf32>) : tensor<4x10xf16>, tensor<4xui8>
  return
}

// -----

func.func @batchmean(%x: tensor<4x10xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{has no reduction(batchmean), which is mp.kl_div's: expected mean, sum or none}}
  %0 = mp.nll_loss %x, %y reduction(batchmean) : tensor<4x10xf32>, tensor<4xui8>
  return
}

// -----

func.func @likelihood_of_probabilities(%x: tensor<4x10xf32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 8-bit signless integer or}}
  %0 = mp.nll_loss %x, %x : tensor<4x10xf32>, tensor<4x10xf32>
  return
}

// -----

// PyTorch's classes are in dimension 1, and words of a text are not.
func.func @classes_last(%x: tensor<?x3x10xf32>, %y: tensor<?x3xi32>) {
  // expected-error@+1 {{labels 'tensor<?x3xi32>' do not have the scores' rows: 'tensor<?x3x10xf32>' with the classes in dimension 1: write dim(2)}}
  %0 = mp.cross_entropy %x, %y : tensor<?x3x10xf32>, tensor<?x3xi32>
  return
}

// -----

func.func @no_such_dimension(%x: tensor<4x10xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{dimension 2 of the classes is outside of rank 2}}
  %0 = mp.nll_loss %x, %y dim(2) : tensor<4x10xf32>, tensor<4xui8>
  return
}

// -----

func.func @negative_dimension(%x: tensor<4x10xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{dimension -1 of the classes is outside of rank 2}}
  %0 = mp.accuracy %x, %y dim(-1) : tensor<4x10xf32>, tensor<4xui8>
  return
}

// -----

func.func @batch_of_classes(%x: tensor<?x10xf32>, %y: tensor<10xui8>) {
  // expected-error@+1 {{dimension 0 of the classes is the batch: 'tensor<?x10xf32>'}}
  %0 = mp.cross_entropy %x, %y dim(0) : tensor<?x10xf32>, tensor<10xui8>
  return
}

// -----

func.func @accuracy_of_no_class(%x: tensor<4x10xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{top_k is 0, expected 1 to the number of classes, 10}}
  %0 = mp.accuracy %x, %y {top_k = 0} : tensor<4x10xf32>, tensor<4xui8>
  return
}

// -----

func.func @accuracy_of_more_than_all(%x: tensor<4x10xf32>, %y: tensor<4xui8>) {
  // expected-error@+1 {{top_k is 11, expected 1 to the number of classes, 10}}
  %0 = mp.accuracy %x, %y {top_k = 11} : tensor<4x10xf32>, tensor<4xui8>
  return
}
