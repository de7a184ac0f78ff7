// RUN: mp-opt %s -mp-autocast='dtype=f16 policy=@mine' -verify-diagnostics -split-input-file

// expected-error@+1 {{policy @mine: unknown op "mp.epx" in a list of ops; did you mean mp.exp}}
mp.policy @mine extends "torch" {allow = ["mp.epx"]}
func.func @misspelt(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{8-bit types of a contraction's operands, such as #mp.storage<forward = f8E4M3FN, backward = f8E5M2>}}
mp.policy @mine extends "fp8" {storage = {forward = "f8E4M3FN"}}

// -----

// expected-error@+1 {{policy @mine: "exp" is listed under allow and under deny}}
mp.policy @mine extends "torch" {allow = ["exp"], deny = ["exp"]}
func.func @conflict(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{policy @mine: "mp.exp" is listed under allow, and under deny as "exp"}}
mp.policy @mine extends "torch" {allow = ["mp.exp"], deny = ["exp"]}
func.func @two_names(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{policy @mine: lists no op}}
mp.policy @mine extends "torch"
func.func @empty(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{policy @mine: unknown autocast policy "torhc"; did you mean torch?}}
mp.policy @mine extends "torhc" {allow = ["exp"]}
func.func @base(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{has no mp.policy @mine}}
func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

mp.policy @mine extends "torch" {deny = ["mp.exp"]}
func.func @constant(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-note@+1 {{the constant}}
  %c = mp.constant dense<1.0e5> : tensor<4x4xf32>
  // expected-error@+1 {{constant 100000 becomes infinite in 'f16', to which autocast casts it (listed under allow as "matmul"); deny the op, or scale the constant}}
  %y = mp.matmul %x, %c : tensor<4x4xf32>, tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

mp.policy @mine extends "relax" {deny = ["mp.exp"]}
// An op that merely follows stays f32 instead.
func.func @follows(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = mp.constant dense<1.0e-9> : tensor<4x4xf32>
  %y = mp.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %z = mp.add %y, %c : tensor<4x4xf32>, tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// -----

mp.policy @mine extends "torch" {promote = ["mp.add"]}
func.func @promotes(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // expected-error@+1 {{has an operand of 'bf16' under autocast to 'f16', and its operands promote}}
  %z = mp.add %x, %x : tensor<4xbf16>, tensor<4xbf16>
  return %z : tensor<4xbf16>
}
