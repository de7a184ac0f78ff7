// RUN: mp-opt %s --mp-inline --split-input-file --verify-diagnostics

func.func @itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call' op is recursive: @itself calls @itself; calls are inlined, so that no function can call itself}}
  %y = call @itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @start(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @a(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @a(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{@b is called here}}
  %y = call @b(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call' op is recursive: @a calls @b, which calls @a; calls are inlined}}
  %y = call @a(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-note @+1 {{declared here}}
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @start(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call' op calls @elsewhere, which has no body to inline: write its body}}
  %y = call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @start(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'nowhere' does not reference a valid function}}
  %y = call @nowhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @start(%x: tensor<4xf32>, %f: (tensor<4xf32>) -> tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call_indirect' op calls what a value names, but calls are inlined: name the function, func.call @f}}
  %y = call_indirect %f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
