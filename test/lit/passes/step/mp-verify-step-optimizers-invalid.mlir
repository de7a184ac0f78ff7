// RUN: mp-opt %s -mp-verify-step -verify-diagnostics -split-input-file

// A weight is guarded by the other optimizer's flag.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  // expected-note@+1 {{checked here}}
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok_m = mp.not %bad_m : tensor<i1>
  // expected-error@+1 {{writes @c guarded by "skipped.m", which a gradient that is not finite would leave clear}}
  mp.write @c, %gc if %ok_m : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A slot is.
mp.variable slot @c.m : tensor<4xf32> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  // expected-note@+1 {{checked here}}
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok_m = mp.not %bad_m : tensor<i1>
  // expected-error@+1 {{writes @c.m guarded by "skipped.m", which a gradient that is not finite would leave clear}}
  mp.write @c.m, %gc if %ok_m : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// The gradient is clipped by the norm of all, but the others' gradients do not skip it.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  // expected-note@+1 {{checked here}}
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok_c = mp.not %bad_c : tensor<i1>
  %product = mp.mul %gc, %gm : tensor<4xf32>, tensor<4xf32>
  %norm = mp.sum %product dims[0] : tensor<4xf32>
  %factor = mp.clip_factor %norm {max_norm = 1.0} : tensor<f32>
  %clipped = mp.mul %gc, %factor : tensor<4xf32>, tensor<f32>
  // expected-error@+1 {{writes @c guarded by "skipped.c", which a gradient that is not finite would leave clear}}
  mp.write @c, %clipped if %ok_c : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// Statistics belong to the one forward.
mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok_c = mp.not %bad_c : tensor<i1>
  // expected-error@+1 {{writes @mean guarded by "skipped.c", but no optimizer's gradient is in it: its guard is "skipped"}}
  mp.write @mean, %k if %ok_c : tensor<f32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A weight is written from no gradient.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok_c = mp.not %bad_c : tensor<i1>
  // expected-error@+1 {{writes @c guarded by "skipped.c", but no optimizer's gradient is in it: its guard is "skipped"}}
  mp.write @c, %x if %ok_c : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A count of steps follows the other optimizer.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
mp.variable slot @applied : tensor<i64> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok_c = mp.not %bad_c : tensor<i1>
  %ok_m = mp.not %bad_m : tensor<i1>
  %applied = mp.read @applied : tensor<i64>
  // expected-error@+1 {{writes @applied guarded by "skipped.m", but @c, which is computed from it, is guarded by "skipped.c"}}
  mp.write @applied, %applied if %ok_m : tensor<i64>
  %lr = mp.schedule %applied by #mp.cosine<steps = 10>
  %c1 = mp.mul %gc, %lr : tensor<4xf32>, tensor<f32>
  // expected-note@+1 {{written here}}
  mp.write @c, %c1 if %ok_c : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A slot stays when its weight changes.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
mp.variable slot @c.m : tensor<4xf32> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok = mp.not %bad : tensor<i1>
  %ok_c = mp.not %bad_c : tensor<i1>
  %m = mp.read @c.m : tensor<4xf32>
  %m1 = mp.add %m, %gc : tensor<4xf32>, tensor<4xf32>
  // expected-note@+1 {{written here}}
  mp.write @c, %m1 if %ok_c : tensor<4xf32>
  // expected-error@+1 {{writes @c.m guarded by "skipped", but @c, which is computed from it, is guarded by "skipped.c"}}
  mp.write @c.m, %m1 if %ok : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// An average stays when the count that weighs it changes.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
mp.variable slot @c.ema : tensor<4xf32> = #mp.init<zeros>
mp.variable slot @applied : tensor<i64> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok = mp.not %bad : tensor<i1>
  %ok_c = mp.not %bad_c : tensor<i1>
  %applied = mp.read @applied : tensor<i64>
  %average = mp.read @c.ema : tensor<4xf32>
  %average1 = mp.ema %average, %gc, %applied {decay = 9.0e-1} : tensor<4xf32>, tensor<4xf32>, tensor<i64>
  // expected-error@+1 {{writes @applied guarded by "skipped.c", but @c.ema, which is computed from it, is guarded by "skipped"}}
  mp.write @applied, %applied if %ok_c : tensor<i64>
  // expected-note@+1 {{written here}}
  mp.write @c.ema, %average1 if %ok : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A working copy stays when its master changes.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
mp.variable derived @c.f16 : tensor<4xf16> from @c
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok = mp.not %bad : tensor<i1>
  %ok_c = mp.not %bad_c : tensor<i1>
  // expected-error@+1 {{writes @c guarded by "skipped.c", but @c.f16, which is derived from it, is guarded by "skipped"}}
  mp.write @c, %gc if %ok_c : tensor<4xf32>
  %low = mp.cast %gc : tensor<4xf32> to tensor<4xf16>
  // expected-note@+1 {{written here}}
  mp.write @c.f16, %low if %ok : tensor<4xf16>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// An average has no guard.
mp.variable slot @average : tensor<4xf32> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  // expected-error@+1 {{writes @average although the step may be skipped: run mp-predicate-step}}
  mp.write @average, %gc : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A working copy has no guard.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
mp.variable derived @copy : tensor<4xf32> from @c
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  // expected-error@+1 {{writes @copy although the step may be skipped: run mp-predicate-step}}
  mp.write @copy, %gc : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A count has no guard.
mp.variable slot @applied : tensor<f32> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  // expected-error@+1 {{writes @applied although the step may be skipped: run mp-predicate-step}}
  mp.write @applied, %k : tensor<f32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A learning rate follows the step attempts.
mp.variable attempt @attempts : tensor<i64> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %attempts = mp.read @attempts : tensor<i64>
  mp.write @attempts, %attempts : tensor<i64>
  // expected-error@+1 {{follows @attempts, which a skipped step changes, and the learning rate with it}}
  %lr = mp.schedule %attempts by #mp.cosine<steps = 10>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A bias correction does.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
mp.variable attempt @attempts : tensor<i64> = #mp.init<zeros>
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %ok_c = mp.not %bad_c : tensor<i1>
  // expected-note@+1 {{read here}}
  %attempts = mp.read @attempts : tensor<i64>
  %correction = mp.bias_correction %attempts {beta = 9.0e-1} : tensor<i64>
  %c1 = mp.mul %gc, %correction : tensor<4xf32>, tensor<f32>
  // expected-error@+1 {{writes @c from @attempts, which a skipped step changes}}
  mp.write @c, %c1 if %ok_c : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// One of the checks does not reach the scaler.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  // expected-error@+1 {{does not reach the scaler's update}}
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %t = mp.constant dense<0> : tensor<i32>
  // expected-note@+1 {{the update}}
  %k1, %t1, %e = mp.update_scale %k, %t, %bad_m : tensor<f32>, tensor<i32>, tensor<i1>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// One check alone does not set this flag.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  // expected-error@+1 {{does not reach the step's flag}}
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %both = mp.and %bad_c, %bad_m : tensor<i1>, tensor<i1>
  return %both, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// The flag is of one optimizer alone.
// expected-error@+1 {{may set "skipped.c" alone, without "skipped"}}
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %more = mp.constant dense<1.0> : tensor<f32>
  %over = mp.compare gt %k, %more : tensor<f32>, tensor<f32>
  %skip_c = mp.or %bad_c, %over : tensor<i1>, tensor<i1>
  return %bad, %skip_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}

// -----

// A finite micro-batch hides one that was not.
mp.variable window @step.found_inf : tensor<i1> = #mp.init<zeros>
func.func @step.accumulate(%bad: tensor<i1>) -> (tensor<i1> {mp.name = "skipped"}) attributes {mp.phase = "accumulate"} {
  // expected-error@+1 {{forgets what the micro-batches before left in @step.found_inf}}
  mp.write @step.found_inf, %bad : tensor<i1>
  return %bad : tensor<i1>
}

// -----

// A gathered value is guarded by the flag of other gradients than its own.
mp.variable @c : tensor<4xf32> = #mp.init<zeros>
mp.variable window @step.gradient.c : tensor<4xf32> = #mp.init<zeros>
mp.variable window @step.found_inf : tensor<i1> = #mp.init<zeros>
mp.variable window @step.found_inf.c : tensor<i1> = #mp.init<zeros>
mp.variable window @step.found_inf.m : tensor<i1> = #mp.init<zeros>
func.func @step.accumulate(%x: tensor<4xf32>, %y: tensor<4xf32>, %k: tensor<f32>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"})
    attributes {mp.phase = "accumulate"} {
  // expected-note@+1 {{checked here}}
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %before = mp.read @step.found_inf : tensor<i1>
  %before_c = mp.read @step.found_inf.c : tensor<i1>
  %before_m = mp.read @step.found_inf.m : tensor<i1>
  %all = mp.or %bad, %before : tensor<i1>, tensor<i1>
  %all_c = mp.or %bad_c, %before_c : tensor<i1>, tensor<i1>
  %all_m = mp.or %bad_m, %before_m : tensor<i1>, tensor<i1>
  mp.write @step.found_inf, %all : tensor<i1>
  mp.write @step.found_inf.c, %all_c : tensor<i1>
  mp.write @step.found_inf.m, %all_m : tensor<i1>
  %sum = mp.read @step.gradient.c : tensor<4xf32>
  %sum1 = mp.add %sum, %gc : tensor<4xf32>, tensor<4xf32>
  mp.write @step.gradient.c, %sum1 : tensor<4xf32>
  return %all, %all_c, %all_m : tensor<i1>, tensor<i1>, tensor<i1>
}
func.func @step() -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"})
    attributes {mp.phase = "apply"} {
  %bad = mp.read @step.found_inf : tensor<i1>
  %bad_c = mp.read @step.found_inf.c : tensor<i1>
  %bad_m = mp.read @step.found_inf.m : tensor<i1>
  %g = mp.read @step.gradient.c : tensor<4xf32>
  %ok_m = mp.not %bad_m : tensor<i1>
  // expected-error@+1 {{writes @c guarded by "skipped.m", which a gradient that is not finite would leave clear}}
  mp.write @c, %g if %ok_m : tensor<4xf32>
  return %bad, %bad_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}
