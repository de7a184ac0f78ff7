// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @gradient(%p: tensor<4xf32>, %g: tensor<3xf32>, %lr: tensor<f32>, %step: tensor<i64>) {
  // expected-error@+1 {{the parameter is 'tensor<4xf32>' but its gradient or state is 'tensor<3xf32>'}}
  %0 = mp.sgd %p, %g, %lr, %step : tensor<4xf32>, tensor<3xf32>, tensor<f32>, tensor<i64>
  return
}

// -----

func.func @no_buffer(%p: tensor<4xf32>, %lr: tensor<f32>, %step: tensor<i64>) {
  // expected-error@+1 {{has momentum but no buffer}}
  %0 = mp.sgd %p, %p, %lr, %step {momentum = 0.9} : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>
  return
}

// -----

func.func @no_momentum(%p: tensor<4xf32>, %lr: tensor<f32>, %step: tensor<i64>) {
  // expected-error@+1 {{has a buffer but no momentum}}
  %0, %1 = mp.sgd %p, %p, %lr, %step, %p : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<4xf32>
  return
}

// -----

func.func @half(%p: tensor<4xf16>, %lr: tensor<f32>, %step: tensor<i64>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float or 64-bit float values, but got 'tensor<4xf16>'}}
  %0 = mp.sgd %p, %p, %lr, %step : tensor<4xf16>, tensor<4xf16>, tensor<f32>, tensor<i64>
  return
}

// -----

func.func @rate(%p: tensor<4xf32>, %step: tensor<i64>) {
  // expected-error@+1 {{operand #2 must be 0D tensor of 32-bit float values, but got 'tensor<4xf32>'}}
  %0 = mp.sgd %p, %p, %p, %step : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i64>
  return
}

// -----

func.func @beta(%step: tensor<i64>) {
  // expected-error@+1 {{requires attribute 'beta'}}
  %0 = mp.bias_correction %step : tensor<i64>
  return
}

// -----

// expected-error@+1 {{lr is -1.000000e+00, expected zero or more}}
func.func private @negative_lr() attributes {a = #mp.sgd<lr = -1>}

// -----

// expected-error@+1 {{momentum is -5.000000e-01, expected zero or more}}
func.func private @negative_momentum() attributes {a = #mp.sgd<momentum = -0.5>}

// -----

// expected-error@+1 {{weight_decay is -1.000000e+00, expected zero or more}}
func.func private @negative_decay() attributes {a = #mp.sgd<weight_decay = -1>}

// -----

// expected-error@+1 {{nesterov needs a momentum and no dampening}}
func.func private @nesterov() attributes {a = #mp.sgd<nesterov = true>}

// -----

// expected-error@+1 {{expected nesterov to be true or false}}
func.func private @flag() attributes {a = #mp.sgd<nesterov = 1>}

// -----

// expected-error@+1 {{unknown argument 'learning_rate', expected lr, momentum, dampening, weight_decay, nesterov}}
func.func private @unknown() attributes {a = #mp.sgd<learning_rate = 1>}

// -----

// expected-error@+1 {{argument 'lr' is given twice}}
func.func private @twice() attributes {a = #mp.sgd<lr = 1, lr = 2>}

// -----

// expected-error@+1 {{beta1 is 1.000000e+00, expected at least 0 and less than 1}}
func.func private @beta1() attributes {a = #mp.adamw<beta1 = 1>}

// -----

// expected-error@+1 {{beta2 is 2.000000e+00, expected at least 0 and less than 1}}
func.func private @beta2() attributes {a = #mp.adamw<beta2 = 2>}

// -----

// expected-error@+1 {{eps is -1.000000e+00, expected zero or more}}
func.func private @eps() attributes {a = #mp.adamw<eps = -1>}

// -----

// expected-error@+1 {{to is -1.000000e+00, expected zero or more}}
func.func private @to() attributes {a = #mp.linear<to = -1>}

// -----

// expected-error@+1 {{from is -1.000000e+00, expected zero or more}}
func.func private @from() attributes {a = #mp.linear<from = -1>}

// -----

// expected-error@+1 {{steps is -3.000000e+00, expected zero or more}}
func.func private @steps() attributes {a = #mp.linear<steps = -3>}

// -----

// expected-error@+1 {{steps is 1.500000e+00, expected a whole number}}
func.func private @half_a_step() attributes {a = #mp.linear<steps = 1.5>}
