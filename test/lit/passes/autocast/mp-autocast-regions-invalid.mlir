// RUN: mp-opt %s -split-input-file -verify-diagnostics -mp-autocast

func.func @type(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mp.autocast' op says no dtype, and neither a region around it nor the recipe does}}
  %y = mp.autocast {
    mp.yield %x : tensor<4xf32>
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @word(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mp.autocast enabled(false) {
    // expected-error@+1 {{is to run in the low type, and neither its region nor the recipe says which that is}}
    %e = mp.exp %x {mp.autocast = "low"} : tensor<4xf32>
    mp.yield %e : tensor<4xf32>
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @policy(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mp.autocast' op unknown autocast policy "troch"; did you mean torch}}
  %y = mp.autocast dtype(f16) policy("troch") {
    mp.yield %x : tensor<4xf32>
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @lists(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'mp.autocast' op autocast to bf16 by policy tf-fp16, whose lists are for f16}}
  %y = mp.autocast dtype(bf16) policy("tf-fp16") {
    mp.yield %x : tensor<4xf32>
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}
