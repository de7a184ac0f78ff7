// RUN: mp-opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{to is -1.000000e+00, expected zero or more}}
func.func private @to() attributes {a = #mp.linear<to = -1>}

// -----

// expected-error@+1 {{from is -1.000000e+00, expected zero or more}}
func.func private @from() attributes {a = #mp.linear<from = -1>}

// -----

// expected-error@+1 {{steps is -3.000000e+00, expected a whole number of at least 1}}
func.func private @steps() attributes {a = #mp.linear<steps = -3>}

// -----

// expected-error@+1 {{steps is 0.000000e+00, expected a whole number of at least 1}}
func.func private @no_steps() attributes {a = #mp.cosine<steps = 0>}

// -----

// expected-error@+1 {{steps is 1.500000e+00, expected a whole number of at least 1}}
func.func private @half_a_step() attributes {a = #mp.polynomial<steps = 1.5>}

// -----

// expected-error@+1 {{argument 'step_size' is missing}}
func.func private @step() attributes {a = #mp.step<gamma = 0.5>}

// -----

// expected-error@+1 {{argument 'gamma' is missing}}
func.func private @exponential() attributes {a = #mp.exponential}

// -----

// expected-error@+1 {{gamma is -1.000000e+00, expected zero or more}}
func.func private @gamma() attributes {a = #mp.exponential<gamma = -1>}

// -----

// expected-error@+1 {{timescale is 0.000000e+00, expected a whole number of at least 1}}
func.func private @timescale() attributes {a = #mp.inverse_sqrt<timescale = 0>}

// -----

// expected-error@+1 {{argument 'steps' is missing}}
func.func private @warmup() attributes {a = #mp.warmup<then = #mp.constant>}

// -----

// expected-error@+1 {{then is #mp.sgd, expected a schedule, such as #mp.cosine<steps = 1000>}}
func.func private @then() attributes {a = #mp.warmup<steps = 5, then = #mp.sgd>}

// -----

// expected-error@+1 {{unknown argument 'T_max', expected to, steps}}
func.func private @cosine() attributes {a = #mp.cosine<T_max = 5>}

// -----

// expected-error@+1 {{unknown argument 'after', expected steps, from, then}}
func.func private @after() attributes {a = #mp.warmup<steps = 5, after = #mp.constant>}

// -----

func.func @length(%applied: tensor<i64>) {
  // expected-error@+1 {{a polynomial schedule needs a length: give it `steps`, or the run `total-steps`}}
  %0 = mp.schedule %applied by #mp.warmup<steps = 5, then = #mp.polynomial>
  return
}
