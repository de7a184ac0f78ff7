// RUN: mp-opt %s -split-input-file -verify-diagnostics

func.func @missing(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'mp.loop' op needs the function @body, which the module lacks}}
  %r = mp.loop @body carried(%x : tensor<f32>) rounds(3) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func private @body(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @rounds(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'mp.loop' op has 0 rounds}}
  %r = mp.loop @body carried(%x : tensor<f32>) rounds(0) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func private @body(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @count(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'mp.loop' op has 1 operands, and @body has 2}}
  %r = mp.loop @body carried(%x : tensor<f32>) rounds(3) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func private @body(%x: tensor<f32>, %y: tensor<4xf32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @slices(%x: tensor<f32>, %ys: tensor<5x4xf32>) -> tensor<f32> {
  // expected-error@+1 {{'mp.loop' op has 'tensor<5x4xf32>' among its operands, and @body needs 'tensor<3x4xf32>'}}
  %r = mp.loop @body carried(%x : tensor<f32>) over(%ys : tensor<5x4xf32>) rounds(3) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func private @body(%x: tensor<f32>) -> tensor<f16> {
  %y = mp.cast %x : tensor<f32> to tensor<f16>
  return %y : tensor<f16>
}
func.func @carries(%x: tensor<f32>) -> tensor<f16> {
  // expected-error@+1 {{'mp.loop' op carries 'tensor<f32>', and leaves 'tensor<f16>'}}
  %r = mp.loop @body carried(%x : tensor<f32>) rounds(3) -> tensor<f16>
  return %r : tensor<f16>
}

// -----

func.func private @body(%x: tensor<f32>) -> tensor<f32>
func.func @external(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'mp.loop' op calls @body, which has no body}}
  %r = mp.loop @body carried(%x : tensor<f32>) rounds(3) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func private @body(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'mp.loop' op calls @body, which calls itself by way of its loops}}
  %r = mp.loop @body carried(%x : tensor<f32>) rounds(3) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func private @outer(%x: tensor<f32>) -> tensor<f32> {
  %r = mp.loop @inner carried(%x : tensor<f32>) rounds(3) -> tensor<f32>
  return %r : tensor<f32>
}
func.func private @inner(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'mp.loop' op calls @outer, which calls itself by way of its loops}}
  %r = mp.loop @outer carried(%x : tensor<f32>) rounds(3) -> tensor<f32>
  return %r : tensor<f32>
}
