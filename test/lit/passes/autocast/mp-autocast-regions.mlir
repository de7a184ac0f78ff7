// RUN: mp-opt %s -split-input-file -mp-autocast='dtype=f16' | FileCheck %s -enable-var-scope --check-prefixes=ALL,F16
// RUN: mp-opt %s -split-input-file -mp-autocast='dtype=f32' | FileCheck %s -enable-var-scope --check-prefixes=ALL,F32
// RUN: mp-opt %s -split-input-file -mp-autocast='dtype=f16' -mp-autocast='dtype=f16' | FileCheck %s -enable-var-scope --check-prefixes=ALL,F16

// ALL-NOT: mp.autocast

// If autocast is off, an op runs in the types of its operands: the f16 of a
// product before it, and with an f32 weight beside that, f32.
// ALL-LABEL: @off
func.func @off(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // F16: %[[H:.+]] = mp.linear %{{.*}} : tensor<4x8xf16>, tensor<8x8xf16>
  %h = mp.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %e, %y = mp.autocast enabled(false) {
    // F16: mp.exp %[[H]] : tensor<4x8xf16>
    %1 = mp.exp %h : tensor<4x8xf32>
    // F16: mp.linear %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
    // F32: mp.linear %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
    %2 = mp.linear %h, %w : tensor<4x8xf32>, tensor<8x8xf32>
    mp.yield %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
  } : tensor<4x8xf32>, tensor<4x8xf32>
  // F16: return %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<4x8xf32>
  // F32: return %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>
  return %e, %y : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// It is off outside, and on again inside, with the type of the scope around both.
// ALL-LABEL: @nested
func.func @nested(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %y = mp.autocast enabled(false) {
    // ALL: mp.linear %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
    %1 = mp.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
    %2 = mp.autocast {
      // F16: mp.linear %{{.*}} : tensor<4x8xf16>, tensor<8x8xf16>
      // F32: mp.linear %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
      %3 = mp.linear %1, %w : tensor<4x8xf32>, tensor<8x8xf32>
      %4 = mp.autocast dtype(bf16) {
        // F16: mp.linear %{{.*}} : tensor<4x8xbf16>, tensor<8x8xbf16>
        // F32: mp.linear %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
        %5 = mp.linear %3, %w : tensor<4x8xf32>, tensor<8x8xf32>
        mp.yield %5 : tensor<4x8xf32>
      } : tensor<4x8xf32>
      mp.yield %4 : tensor<4x8xf32>
    } : tensor<4x8xf32>
    mp.yield %2 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A policy of its own: PyTorch's on the CPU lets exp run in its operand's type.
// ALL-LABEL: @policy
func.func @policy(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %h = mp.linear %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  // ALL: mp.exp %{{.*}} : tensor<4x8xf32>
  %e = mp.exp %h : tensor<4x8xf32>
  %f = mp.autocast policy("torch-cpu") {
    // F16: mp.exp %{{.*}} : tensor<4x8xf16>
    %1 = mp.exp %h : tensor<4x8xf32>
    mp.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return %e, %f : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// An op's own attribute holds in a region too, and a region without a result may
// write.
mp.variable buffer @last : tensor<4x8xf32> = #mp.init<zeros>
// ALL-LABEL: @word
func.func @word(%x: tensor<4x8xf32>) {
  mp.autocast enabled(false) {
    // F16: mp.exp %{{.*}} : tensor<4x8xf16>
    // F32: mp.exp %{{.*}} : tensor<4x8xf32>
    %e = mp.exp %x {mp.autocast = "low"} : tensor<4x8xf32>
    %f = mp.cast %e : tensor<4x8xf32> to tensor<4x8xf32>
    // ALL: mp.write @last
    mp.write @last, %f : tensor<4x8xf32>
  }
  return
}
