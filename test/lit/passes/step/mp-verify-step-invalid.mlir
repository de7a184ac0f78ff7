// RUN: mp-opt %s -mp-verify-step -verify-diagnostics -split-input-file

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @unguarded(%x: tensor<f32>, %skipped: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  // expected-error@+1 {{writes @w although the step may be skipped: run mp-predicate-step}}
  mp.write @w, %x : tensor<f32>
  return %skipped : tensor<i1>
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @not_negated(%x: tensor<f32>, %skipped: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  // expected-error@+1 {{writes @w although the step may be skipped: run mp-predicate-step}}
  mp.write @w, %x if %skipped : tensor<f32>
  return %skipped : tensor<i1>
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @other_flag(%x: tensor<f32>, %skipped: tensor<i1>, %other: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  %ok = mp.not %other : tensor<i1>
  // expected-error@+1 {{writes @w although the step may be skipped: run mp-predicate-step}}
  mp.write @w, %x if %ok : tensor<f32>
  return %skipped : tensor<i1>
}

// -----

mp.variable scaler @k : tensor<f32> = #mp.init<zeros>
func.func @guarded_scaler(%x: tensor<f32>, %skipped: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  %ok = mp.not %skipped : tensor<i1>
  // expected-error@+1 {{writes @k only where the step is applied, but a scaler changes with every attempt}}
  mp.write @k, %x if %ok : tensor<f32>
  return %skipped : tensor<i1>
}

// -----

mp.variable @w : tensor<f32> = #mp.init<zeros>
func.func @twice(%x: tensor<f32>) {
  // expected-note@+1 {{the first time}}
  mp.write @w, %x : tensor<f32>
  // expected-error@+1 {{writes @w a second time}}
  mp.write @w, %x : tensor<f32>
  return
}

// -----

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @still_scaled(%x: tensor<4xf32>, %k: tensor<f32>) {
  // expected-note@+1 {{scaled here}}
  %s = mp.scale %x, %k : tensor<4xf32>, tensor<f32>
  %n = mp.neg %s : tensor<4xf32>
  // expected-error@+1 {{writes @w from a gradient that is still scaled}}
  mp.write @w, %n : tensor<4xf32>
  return
}

// -----

func.func @unheard(%x: tensor<4xf32>, %k: tensor<f32>, %flag: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  // expected-error@+1 {{does not reach the step's flag}}
  %g, %bad = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  return %flag : tensor<i1>
}

// -----

// expected-error@+1 {{checks gradients but returns no result named "skipped"}}
func.func @no_flag(%x: tensor<4xf32>, %k: tensor<f32>) {
  %g, %bad = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  return
}

// -----

// expected-error@+1 {{'func.func' op has control flow, which no step has}}
func.func @control_flow(%flag: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  return %flag : tensor<i1>
^other:
  return %flag : tensor<i1>
}

// -----

mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>
func.func @step.accumulate(%x: tensor<f32>) attributes {mp.phase = "accumulate"} {
  // expected-error@+1 {{writes @mean, a buffer, for a micro-batch, which writes window variables alone}}
  mp.write @mean, %x : tensor<f32>
  return
}

// -----

mp.variable window @step.found_inf : tensor<i1> = #mp.init<zeros>
// expected-error@+1 {{gives its flag to no window variable, so that nobody skips}}
func.func @step.accumulate(%bad: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) attributes {mp.phase = "accumulate"} {
  %other = mp.not %bad : tensor<i1>
  mp.write @step.found_inf, %other : tensor<i1>
  return %bad : tensor<i1>
}

// -----

mp.variable window @step.found_inf : tensor<i1> = #mp.init<zeros>
mp.variable slot @n : tensor<i1> = #mp.init<zeros>
func.func @step() attributes {mp.phase = "apply"} {
  // expected-error@+1 {{reads the window's flag @step.found_inf, which does not reach the step's flag}}
  %bad = mp.read @step.found_inf : tensor<i1>
  mp.write @n, %bad : tensor<i1>
  return
}

// -----

mp.variable window @step.micro : tensor<i64> = #mp.init<zeros>
func.func @guarded_window(%x: tensor<i64>, %skipped: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) {
  %ok = mp.not %skipped : tensor<i1>
  // expected-error@+1 {{writes @step.micro only where the step is applied, but a window changes with every attempt}}
  mp.write @step.micro, %x if %ok : tensor<i64>
  return %skipped : tensor<i1>
}

// -----

func.func @clipped_too_early(%x: tensor<f32>, %k: tensor<f32>) {
  // expected-note@+1 {{scaled here}}
  %s = mp.scale %x, %k : tensor<f32>, tensor<f32>
  // expected-error@+1 {{clips by the norm of gradients that are still scaled}}
  %f = mp.clip_factor %s {max_norm = 1.0} : tensor<f32>
  return
}

// -----

func.func @other_scale(%k: tensor<f32>, %other: tensor<f32>) -> (tensor<i1> {mp.name = "skipped"}) {
  %seed = mp.seed : tensor<f32>
  // expected-note@+1 {{scaled here}}
  %scaled = mp.scale %seed, %k : tensor<f32>, tensor<f32>
  // expected-error@+1 {{unscales by another scale than backward begins with}}
  %g, %bad = mp.unscale_and_check %scaled, %other : tensor<f32>, tensor<f32>
  return %bad : tensor<i1>
}

// -----

func.func @two_scales(%k: tensor<f32>, %other: tensor<f32>) -> tensor<f32> {
  %seed = mp.seed : tensor<f32>
  // expected-note@+1 {{scaled here}}
  %0 = mp.scale %seed, %k : tensor<f32>, tensor<f32>
  // expected-error@+1 {{begins backward with another scale than another loss does}}
  %1 = mp.scale %seed, %other : tensor<f32>, tensor<f32>
  return %seed : tensor<f32>
}
