// RUN: mp-opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{unknown scaler "karas"; did you mean "keras"? There are torch, apex, apex-hysteresis, keras, keras2, deepspeed, deepspeed-consecutive, megatron, fairseq, jmp, none, static:N, static:auto}}
mp.scaler @scaler {preset = "karas"}

// -----

// expected-error@+1 {{static loss scale "0", expected a positive 32-bit float, or auto}}
mp.scaler @scaler {preset = "static:0"}

// -----

// expected-error@+1 {{preset "static:1024" has no field growth_interval: its scale does not change}}
mp.scaler @scaler {preset = "static:1024", growth_interval = 100}

// -----

// expected-error@+1 {{init_scale is 5.000000e-01, expected from min_scale, 1.000000e+00, to max_scale}}
mp.scaler @scaler {preset = "megatron", init_scale = 0.5}

// -----

// expected-error@+1 {{min_scale is -1.000000e+00, expected a 32-bit float of at least 0}}
mp.scaler @scaler {min_scale = -1.0}

// -----

// expected-error@+1 {{max_scale is 1.000000e+00, expected at least min_scale}}
mp.scaler @scaler {min_scale = 2.0, max_scale = 1.0}

// -----

// expected-error@+1 {{hysteresis is 0, expected a positive 32-bit number}}
mp.scaler @scaler {hysteresis = 0}

// -----

// expected-error@+1 {{hysteresis_refill is "never", expected "growth" or "clean_step"}}
mp.scaler @scaler {hysteresis_refill = "never"}

// -----

// expected-error@+1 {{on_min is "stop", expected "hold", "raise" or "raise_before"}}
mp.scaler @scaler {on_min = "stop"}

// -----

// expected-error@+1 {{tolerance is 2.000000e+00, expected between 0 and 1}}
mp.scaler @scaler {tolerance = 2.0}

// -----

// expected-error@+1 {{init_scale is 0.000000e+00, expected a positive 32-bit float}}
mp.scaler @scaler {init_scale = 0.0}

// -----

// expected-error@+1 {{init_scale is 1.000000e-50, expected a positive 32-bit float}}
mp.scaler @scaler {init_scale = 1.0e-50, min_scale = 0.0}

// -----

// expected-error@+1 {{init_scale is 1.000000e+39, expected a positive 32-bit float}}
mp.scaler @scaler {init_scale = 1.0e+39}

// -----

// expected-error@+1 {{growth_factor is 1, expected more than 1, as torch does; preset "apex-hysteresis" takes 1}}
mp.scaler @scaler {growth_factor = 1.0}

// -----

// expected-error@+1 {{growth_factor is 1, expected more than 1, as megatron does}}
mp.scaler @scaler {preset = "megatron", growth_factor = 1.0}

// -----

// expected-error@+1 {{growth_factor is 5.000000e-01, expected 1 or more}}
mp.scaler @scaler {preset = "apex-hysteresis", growth_factor = 0.5}

// -----

// expected-error@+1 {{backoff_factor is 1.000000e+00, expected between 0 and 1}}
mp.scaler @scaler {backoff_factor = 1.0}

// -----

// expected-error@+1 {{growth_interval is 0, expected a positive 32-bit number}}
mp.scaler @scaler {growth_interval = 0}

// -----

// expected-error@+1 {{unknown attribute 'growth_intervall', expected backoff_factor, enabled, growth_delay, growth_factor, growth_interval, hysteresis, hysteresis_refill, init_scale, max_scale, min_scale, on_min, preset, sym_name, tolerance}}
mp.scaler @scaler {growth_intervall = 5}

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{minimises nothing: write mp.minimize result(0) {...}}}
mp.train @step of @loss {}

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{accumulates 0 micro-batches, expected 1 to 1000000000}}
mp.train @step of @loss accumulate(0) {
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{accumulates 1000000001 micro-batches, expected 1 to 1000000000}}
mp.train @step of @loss accumulate(1000000001) {
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

// expected-note@+1 {{the function}}
func.func private @loss() -> (tensor<f32>, tensor<f32> {mp.name = "lr"})
// expected-error@+1 {{trains @loss, whose result 1 has the name "lr", by which a step returns a number of its own}}
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{trains @los, which is not a function}}
mp.train @step of @los {
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{names @scaler, which is not an mp.scaler}}
mp.train @step of @loss scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{autocast to 'f32', expected f16 or bf16}}
mp.train @step of @loss autocast(<dtype = f32>) {
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{'mp.seed' op does not belong into a recipe, which holds mp.minimize}}
  %0 = mp.seed : tensor<f32>
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{minimises result 1 of @loss, which has 1}}
  mp.minimize result(1) {optimizer = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{minimises result -1 of @loss, which has 1}}
  mp.minimize result(-1) {optimizer = #mp.sgd}
}

// -----

// expected-note@+1 {{result 0 of @loss}}
func.func private @loss() -> tensor<4xf32>
mp.train @step of @loss {
  // expected-error@+1 {{minimises 'tensor<4xf32>', expected one float, tensor<f32>}}
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

// expected-note@+1 {{result 0 of @loss}}
func.func private @loss() -> i32
mp.train @step of @loss {
  // expected-error@+1 {{minimises 'i32', expected one float, tensor<f32>}}
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{has an empty pattern in params}}
  mp.minimize result(0) {params = ["*", ""], optimizer = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{requires attribute 'optimizer'}}
  mp.minimize result(0)
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{attribute 'optimizer' failed to satisfy constraint: an optimizer, such as #mp.adamw<lr = 1.0e-3>}}
  mp.minimize result(0) {optimizer = #mp.constant}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{attribute 'schedule' failed to satisfy constraint: a schedule, such as #mp.cosine<steps = 1000>}}
  mp.minimize result(0) {optimizer = #mp.sgd, schedule = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{unknown attribute 'param', expected clip_norm, clip_value, ema, optimizer, optimizer_name, params, result, schedule}}
  mp.minimize result(0) {optimizer = #mp.sgd, param = ["*"]}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{optimizer_name is "1", expected one that begins with a letter}}
  mp.minimize result(0) {optimizer = #mp.sgd, optimizer_name = "1"}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{ema is 1.500000e+00, expected between 0 and 1}}
  mp.minimize result(0) {optimizer = #mp.sgd, ema = 1.5}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{clip_value is 0.000000e+00, expected more than 0}}
  mp.minimize result(0) {optimizer = #mp.sgd, clip_value = 0.0}
}

// -----

func.func private @loss() -> tensor<f32>
// expected-error@+1 {{clip_norm is -1.000000e+00, expected more than 0}}
mp.train @step of @loss attributes {clip_norm = -1.0} {
  mp.minimize result(0) {optimizer = #mp.sgd}
}

// -----

func.func private @loss() -> tensor<f32>
mp.train @step of @loss {
  // expected-error@+1 {{has clip_norm and clip_value: choose one}}
  mp.minimize result(0) {optimizer = #mp.sgd, clip_norm = 1.0, clip_value = 1.0}
}

// -----

func.func private @loss() -> tensor<f32>
// expected-note@+1 {{the recipe}}
mp.train @step of @loss attributes {clip_norm = 1.0} {
  // expected-error@+1 {{clips its gradients, which the recipe clips too}}
  mp.minimize result(0) {optimizer = #mp.sgd, clip_value = 1.0}
}

// -----

func.func @loss() {
  // expected-error@+1 {{'mp.minimize' op expects parent op 'mp.train'}}
  mp.minimize result(0) {optimizer = #mp.sgd}
  return
}

// -----

// expected-error@+1 {{binds no column}}
mp.data @train {}

// -----

// expected-error@+1 {{column "x" is "x*", expected #mp.column<"files*" as idx, ui8>}}
mp.data @train {x = "x*"}

// -----

// expected-error@+1 {{elements are 'tensor<f32>', expected integers or floats}}
mp.data @train {x = #mp.column<"x" as idx, tensor<f32>>}

// -----

// expected-error@+1 {{a safetensors file holds several tensors: name one, key = "..."}}
mp.data @train {x = #mp.column<"x" as safetensors, f32>}

// -----

// expected-error@+1 {{a file in format npy holds one array and has no key}}
mp.data @train {x = #mp.column<"x" as npy, f32, key = "x">}

// -----

// expected-error@+1 {{dims_in_files is not a permutation: [0, 2, 2] names dimension 2 twice}}
mp.data @train {x = #mp.column<"x" as npy, f32 dims_in_files[0, 2, 2]>}

// -----

// expected-error@+1 {{dims_in_files is [1, 0], but the samples, dimension 0, stay first}}
mp.data @train {x = #mp.column<"x" as npy, f32 dims_in_files[1, 0]>}

// -----

// expected-error@+2 {{expected ::mp::DataFormat to be one of: idx, npy, safetensors, records, images, classes}}
// expected-error@+1 {{failed to parse}}
mp.data @train {x = #mp.column<"x" as csv, f32>}

// -----

// expected-error@+1 {{'mp.mode' is 3 : i64, expected "train" or "eval"}}
func.func private @mode() attributes {mp.mode = 3}

// -----

// expected-error@+1 {{'mp.mode' is "test", expected "train" or "eval"}}
func.func private @mode() attributes {mp.mode = "test"}

// -----

func.func @number(%x: tensor<4xf32>) {
  // expected-error@+1 {{'mp.number' is "one", expected a whole number}}
  %y = mp.exp %x {mp.number = "one"} : tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{'mp.name' is 3 : i64, expected a string}}
func.func private @name(tensor<f32> {mp.name = 3})

// -----

// expected-error@+1 {{arguments 0 and 2 have the same name, "x"}}
func.func private @name(tensor<f32> {mp.name = "x"}, tensor<f32>, tensor<f32> {mp.name = "x"})

// -----

// expected-error@+1 {{results 0 and 1 have the same name, "y"}}
func.func private @name() -> (tensor<f32> {mp.name = "y"}, tensor<f32> {mp.name = "y"})

// -----

// expected-error@+1 {{'mp.gradient' is "w", expected @parameter}}
func.func private @gradient() -> (tensor<f32> {mp.gradient = "w"})

// -----

// expected-error @+1 {{the column has no record <bytes = N>, the size of a record}}
mp.data @train {x = #mp.column<"x" as records, f32>}

// -----

// expected-error @+1 {{the column has samples of 3072 bytes from byte 2 on, which leave records of 3073 bytes}}
mp.data @train {x = #mp.column<"x" as records, ui8 shape[3, 32, 32] record <bytes = 3073, offset = 2>>}

// -----

// expected-error @+1 {{the column has samples of 4 bytes from byte -1 on, which leave records of 8 bytes}}
mp.data @train {x = #mp.column<"x" as records, f32 record <bytes = 8, offset = -1>>}

// -----

// expected-error @+1 {{the column has a shape with a size that is no size}}
mp.data @train {x = #mp.column<"x" as records, f32 shape[0] record <bytes = 8>>}

// -----

// expected-error @+1 {{the column has a record, which only records have}}
mp.data @train {x = #mp.column<"x" as idx, ui8 record <bytes = 8>>}

// -----

// expected-error @+1 {{the column has a shape, which the files say themselves}}
mp.data @train {x = #mp.column<"x" as npy, ui8 shape[2]>}

// -----

// expected-error @+1 {{the column has elements other than ui8, the bytes of pictures}}
mp.data @train {x = #mp.column<"x" as images, f32 shape[2, 2, 3]>}

// -----

// expected-error @+1 {{the column has no shape[height, width, channels], to which pictures are scaled}}
mp.data @train {x = #mp.column<"x" as images, ui8>}

// -----

// expected-error @+1 {{the column has pictures of neither 1 channel nor 3}}
mp.data @train {x = #mp.column<"x" as images, ui8 shape[2, 2, 4]>}

// -----

// expected-error @+1 {{the column has pictures of more than 8192 pixels a side}}
mp.data @train {x = #mp.column<"x" as images, ui8 shape[2, 9000, 3]>}

// -----

// expected-error @+1 {{the column has elements other than integers, the numbers of classes}}
mp.data @train {x = #mp.column<"x" as classes, f32>}

// -----

// expected-error @+1 {{the column has elements other than ui8, ui16 and ui32, the types of tokens}}
mp.data @train {x = #mp.column<"x" as tokens, i32 shape[4] window <tokens = 5, stride = 4>>}

// -----

// expected-error @+1 {{the column has no shape[length], the tokens of a sample}}
mp.data @train {x = #mp.column<"x" as tokens, ui16 window <tokens = 5, stride = 4>>}

// -----

// expected-error @+1 {{the column has no window <tokens = N, stride = N>, the tokens around a sample}}
mp.data @train {x = #mp.column<"x" as tokens, ui16 shape[4]>}

// -----

// expected-error @+1 {{the column has windows of 5 tokens, each 0 after the one before, expected positive numbers below 2^48}}
mp.data @train {x = #mp.column<"x" as tokens, ui16 shape[4] window <tokens = 5, stride = 0>>}

// -----

// expected-error @+1 {{the column has samples of 4 tokens from token 2 on, which leave windows of 5 tokens}}
mp.data @train {x = #mp.column<"x" as tokens, ui16 shape[4] window <tokens = 5, stride = 4, offset = 2>>}

// -----

// expected-error @+1 {{the column has a window, which only tokens have}}
mp.data @train {x = #mp.column<"x" as npy, ui16 window <tokens = 5, stride = 4>>}
