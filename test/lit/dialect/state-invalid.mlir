// RUN: mp-opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{a variable's shape is static, got 'tensor<?xf32>'}}
mp.variable @w : tensor<?xf32> = #mp.init<zeros>

// -----

// expected-error@+1 {{attribute 'type' failed to satisfy constraint: type attribute of ranked tensor of}}
mp.variable @w : f32 = #mp.init<zeros>

// -----

// expected-error@+1 {{needs an initialiser, for example = #mp.init<zeros>}}
mp.variable @w : tensor<4xf32>

// -----

// expected-error@+1 {{unknown kind of variable 'param', expected parameter, buffer, slot, scaler, attempt, derived or window}}
mp.variable param @w : tensor<4xf32> = #mp.init<zeros>

// -----

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
// expected-error@+1 {{a derived variable has no initialiser: it is computed from its source}}
mp.variable derived @w.f16 : tensor<4xf16> = #mp.init<zeros> from @w

// -----

// expected-error@+1 {{has role average, which names its parameter: of @w}}
mp.variable slot @average : tensor<4xf32> = #mp.init<zeros> as <average>

// -----

// expected-error@+1 {{has role count, which names no parameter}}
mp.variable slot @count : tensor<i64> = #mp.init<zeros> as <count of @w>

// -----

// expected-error@+1 {{has role slot, which names the slot: named "exp_avg"}}
mp.variable slot @slot : tensor<4xf32> = #mp.init<zeros> as <slot of @w>

// -----

// expected-error@+1 {{has role scale, which has no name of its own}}
mp.variable scaler @scale : tensor<f32> = #mp.init<zeros> as <scale named "scale">

// -----

// expected-error@+1 {{a derived variable that is more than a number names its source: from @variable}}
mp.variable derived @w.f16 : tensor<4xf16>

// -----

// expected-error@+1 {{comes from @w, which is not a variable}}
mp.variable derived @w.f16 : tensor<4xf16> from @w

// -----

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
// expected-error@+1 {{is 'tensor<3xf16>' but its source is 'tensor<4xf32>'}}
mp.variable derived @w.f16 : tensor<3xf16> from @w

// -----

// expected-error@+1 {{comes from @w, which is derived itself}}
mp.variable derived @w : tensor<4xf16> from @w

// -----

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
// expected-error@+1 {{only a derived variable comes from another one}}
mp.variable buffer @b : tensor<4xf32> = #mp.init<zeros> from @w

// -----

func.func @nested() {
  // expected-error@+1 {{expects parent op 'builtin.module'}}
  mp.variable @w : tensor<4xf32> = #mp.init<zeros>
  return
}

// -----

func.func @missing() {
  // expected-error@+1 {{'mp.read' op names @w, which is not a variable}}
  %0 = mp.read @w : tensor<4xf32>
  return
}

// -----

func.func @function() {
  // expected-error@+1 {{'mp.read' op names @function, which is not a variable}}
  %0 = mp.read @function : tensor<4xf32>
  return
}

// -----

// A variable of an outer module is another program's.
mp.variable @w : tensor<4xf32> = #mp.init<zeros>
module {
  func.func @inner() {
    // expected-error@+1 {{'mp.read' op names @w, which is not a variable}}
    %0 = mp.read @w : tensor<4xf32>
    return
  }
}

// -----

// expected-note@+1 {{@w is declared here}}
mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @type(%x: tensor<4xf16>) {
  // expected-error@+1 {{'mp.write' op has type 'tensor<4xf16>' but the variable is 'tensor<4xf32>'}}
  mp.write @w, %x : tensor<4xf16>
  return
}

// -----

mp.variable @w : tensor<4xf32> = #mp.init<zeros>
func.func @flag(%x: tensor<4xf32>, %f: tensor<4xi1>) {
  // expected-error@+1 {{operand #1 must be 0D tensor of 1-bit signless integer values, but got 'tensor<4xi1>'}}
  "mp.write"(%x, %f) <{variable = @w}> : (tensor<4xf32>, tensor<4xi1>) -> ()
  return
}

// -----

// expected-error@+1 {{unknown initialiser 'he_uniform', expected zeros, ones, constant, uniform, normal, kaiming_uniform, kaiming_normal, xavier_uniform, xavier_normal or seed}}
mp.variable @w : tensor<4xf32> = #mp.init<he_uniform>

// -----

// expected-error@+1 {{unknown argument 'gain', expected a, fan_in}}
mp.variable @w : tensor<4xf32> = #mp.init<kaiming_uniform, gain = 2>

// -----

// expected-error@+1 {{initialiser constant needs a value}}
mp.variable @w : tensor<4xf32> = #mp.init<constant>

// -----

// expected-error@+1 {{initialiser uniform has a = 2.000000e+00 above b = 1.000000e+00}}
mp.variable @w : tensor<4xf32> = #mp.init<uniform, a = 2>

// -----

// expected-error@+1 {{"std" is -1.000000e+00, which is too small}}
mp.variable @w : tensor<4xf32> = #mp.init<normal, std = -1>

// -----

// expected-error@+1 {{"fan_in" is 0.000000e+00, which is too small}}
mp.variable @w : tensor<4xf32> = #mp.init<kaiming_normal, fan_in = 0>

// -----

// expected-error @+1 {{is called __metadata__, by which checkpoints name what is not a tensor}}
mp.variable @__metadata__ : tensor<2xf32> = #mp.init<zeros>

// -----

// expected-error @+1 {{has a name that is not UTF-8, which checkpoints cannot hold}}
mp.variable @"\FF" : tensor<2xf32> = #mp.init<zeros>

// -----

// expected-error @+1 {{begins as 1.000000e+05, which 'f16' cannot hold}}
mp.variable buffer @mask : tensor<2xf16> = #mp.init<constant, value = 1.0e5>

// -----

// expected-error @+1 {{begins as 2.560000e+02, which 'ui8' cannot hold}}
mp.variable buffer @codes : tensor<2xui8> = #mp.init<constant, value = 256>

// -----

// expected-error @+1 {{begins as 5.000000e-01, which 'i64' cannot hold}}
mp.variable buffer @codes : tensor<2xi64> = #mp.init<constant, value = 0.5>

// -----

// expected-error @+1 {{"b" is 0x7FF0000000000000 : f64, expected a finite number}}
mp.variable @w : tensor<2xf32> = #mp.init<uniform, b = inf>

// -----

// expected-error@+1 {{is 'tensor<2x3x4xf32>', whose dimensions dims_in_files does not permute: [0, 2] has 2 entries, expected 3}}
mp.variable @w : tensor<2x3x4xf32> dims_in_files[0, 2] = #mp.init<zeros>

// -----

// expected-error@+1 {{does not permute: [0, 3, 1] names dimension 3, expected 0 to 2}}
mp.variable @w : tensor<2x3x4xf32> dims_in_files[0, 3, 1] = #mp.init<zeros>

// -----

// expected-error@+1 {{does not permute: [0, -1, 1] names dimension -1, expected 0 to 2}}
mp.variable @w : tensor<2x3x4xf32> dims_in_files[0, -1, 1] = #mp.init<zeros>

// -----

// expected-error@+1 {{does not permute: [0, 1, 1] names dimension 1 twice}}
mp.variable @w : tensor<2x3x4xf32> dims_in_files[0, 1, 1] = #mp.init<zeros>

// -----

// expected-error@+1 {{does not permute: [0] has 1 entry, expected 0}}
mp.variable @w : tensor<f32> dims_in_files[0] = #mp.init<zeros>

// -----

mp.variable @w : tensor<2x3xf32> = #mp.init<zeros>
// expected-error@+1 {{has dims_in_files, but a derived variable is in no file}}
mp.variable derived @w.f16 : tensor<2x3xf16> dims_in_files[1, 0] from @w

// -----

// expected-error@+1 {{has dims_in_files, but a window variable is in no file}}
mp.variable window @sum : tensor<2x3xf32> dims_in_files[1, 0] = #mp.init<zeros>
