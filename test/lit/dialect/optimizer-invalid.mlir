// RUN: mp-opt %s -verify-diagnostics -split-input-file

func.func @gradient(%p: tensor<4xf32>, %g: tensor<3xf32>, %lr: tensor<f32>, %step: tensor<i64>) {
  // expected-error@+1 {{the parameter is 'tensor<4xf32>' but its gradient or state is 'tensor<3xf32>'}}
  %0 = mp.sgd %p, %g, %lr, %step : tensor<4xf32>, tensor<3xf32>, tensor<f32>, tensor<i64>
  return
}

// -----

func.func @no_buffer(%p: tensor<4xf32>, %lr: tensor<f32>, %step: tensor<i64>) {
  // expected-error@+1 {{has 0 slots, expected 1: momentum_buffer}}
  %0 = mp.sgd<momentum = 0.9> %p, %p, %lr, %step : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>
  return
}

// -----

func.func @no_momentum(%p: tensor<4xf32>, %lr: tensor<f32>, %step: tensor<i64>) {
  // expected-error@+1 {{has 1 slots, expected 0}}
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

// expected-error@+1 {{sparse has neither momentum nor weight_decay, which change rows that a batch does not use}}
func.func private @sparse_momentum() attributes {a = #mp.sgd<momentum = 0.9, sparse = true>}

// -----

// expected-error@+1 {{sparse has no weight_decay, which changes rows that a batch does not use}}
func.func private @sparse_decay() attributes {a = #mp.adagrad<weight_decay = 0.1, sparse = true>}

// -----

// expected-error@+1 {{sparse, as torch.optim.SparseAdam, has neither weight_decay nor amsgrad}}
func.func private @sparse_amsgrad() attributes {a = #mp.adam<amsgrad = true, sparse = true>}

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

// -----

// expected-error@+1 {{unknown argument 'beta', expected lr, beta1, beta2, eps, weight_decay, amsgrad, sparse, maximize}}
func.func private @adam() attributes {a = #mp.adam<beta = 1>}

// -----

// expected-error@+1 {{argument 'beta2' is given twice}}
func.func private @betas() attributes {a = #mp.adam<beta2 = 0.5, betas = (0.5, 0.5)>}

// -----

// expected-error@+1 {{expected ','}}
func.func private @one_beta() attributes {a = #mp.lion<betas = (0.5)>}

// -----

// expected-error@+1 {{alpha is -1.000000e+00, expected zero or more}}
func.func private @alpha() attributes {a = #mp.rmsprop<alpha = -1>}

// -----

// expected-error@+1 {{initial_accumulator_value is -1.000000e+00, expected zero or more}}
func.func private @accumulator() attributes {a = #mp.adagrad<initial_accumulator_value = -1>}

// -----

// expected-error@+1 {{eps is -1.000000e+00, expected zero or more}}
func.func private @lamb() attributes {a = #mp.lamb<eps = -1>}

// -----

// expected-error@+1 {{beta2 is 1.000000e+00, expected at least 0 and less than 1}}
func.func private @lion() attributes {a = #mp.lion<beta2 = 1>}

// -----

func.func @slots(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{has 1 slots, expected 3: square_avg, grad_avg, momentum_buffer}}
  %0:2 = mp.rmsprop<momentum = 0.5, centered = true> %p, %p, %lr, %p : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>
  return
}

// -----

func.func @amsgrad(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{has 2 slots, expected 3: exp_avg, exp_avg_sq, max_exp_avg_sq}}
  %0:3 = mp.adam<amsgrad = true> %p, %p, %p, %p, %lr, %lr, %lr : tensor<4xf32>, tensor<4xf32>,
      tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

func.func @other(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{attribute 'optimizer' failed to satisfy constraint: Lion (Chen et al., arXiv 2302.06675, algorithm 2)}}
  %0:2 = "mp.lion"(%p, %p, %p, %lr) {optimizer = #mp.sgd} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>)
      -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @average(%a: tensor<4xf32>, %p: tensor<3xf32>, %step: tensor<i64>) {
  // expected-error@+1 {{the average is 'tensor<4xf32>' but the value is 'tensor<3xf32>'}}
  %0 = mp.ema %a, %p, %step {decay = 0.5} : tensor<4xf32>, tensor<3xf32>, tensor<i64>
  return
}

// -----

func.func @norm(%n: tensor<f32>) {
  // expected-error@+1 {{requires attribute 'max_norm'}}
  %0 = mp.clip_factor %n : tensor<f32>
  return
}

// -----

mp.train @step of @loss {
  // expected-error@+1 {{lr is 1.000000e+300, which rounds to INF in f32}}
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e300>}
}

// -----

mp.train @step of @loss {
  // expected-error@+1 {{eps is 1.000000e-50, which rounds to 0.000000e+00 in f32}}
  mp.minimize result(0) {optimizer = #mp.adam<eps = 1.0e-50>}
}
