// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s -mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s -emit-bytecode | mp-opt --trust-bytecode | FileCheck %s

// The result has the tokens and heads of the query and the width of the value; log_sum_exp has a number per query.
// CHECK-LABEL: @results
func.func @results(%q: tensor<?x7x6x8xbf16>, %k: tensor<?x5x2x8xbf16>, %v: tensor<?x5x2x3xbf16>) -> (tensor<?x7x6x3xbf16>, tensor<?x7x6xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = mp.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x7x6x8xbf16>, tensor<?x5x2x8xbf16>, tensor<?x5x2x3xbf16>
  %y, %lse = mp.scaled_dot_product_attention %q, %k, %v : tensor<?x7x6x8xbf16>, tensor<?x5x2x8xbf16>, tensor<?x5x2x3xbf16>
  return %y, %lse : tensor<?x7x6x3xbf16>, tensor<?x7x6xf32>
}

// The compute type of f64 is f64.
// CHECK-LABEL: @wide
func.func @wide(%q: tensor<2x7x1x8xf64>) -> tensor<2x7x1xf64> {
  %y, %lse = mp.scaled_dot_product_attention %q, %q, %q : tensor<2x7x1x8xf64>, tensor<2x7x1x8xf64>, tensor<2x7x1x8xf64>
  return %lse : tensor<2x7x1xf64>
}

// CHECK-LABEL: @keys
func.func @keys(%q: tensor<2x7x4x8xf16>, %k: tensor<2x5x4x8xf16>, %m: tensor<4x1x5xi1>, %l: tensor<2xi64>, %s: tensor<4xf32>) {
  // CHECK: mp.scaled_dot_product_attention {{.*}} mask(%{{.*}} : tensor<4x1x5xi1>) lengths(%{{.*}} : tensor<2xi64>) slopes(%{{.*}} : tensor<4xf32>) causal window(3) query_offset(-2) {scale = 5.000000e-01 : f64} : tensor<2x7x4x8xf16>
  %0:2 = mp.scaled_dot_product_attention %q, %k, %k mask(%m : tensor<4x1x5xi1>) lengths(%l : tensor<2xi64>) slopes(%s : tensor<4xf32>) causal window(3) query_offset(-2) {scale = 0.5} : tensor<2x7x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>
  // CHECK: mp.scaled_dot_product_attention {{.*}} window(1) : tensor<2x7x4x8xf16>
  %1:2 = mp.scaled_dot_product_attention %q, %k, %k window(1) : tensor<2x7x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>
  // CHECK: mp.scaled_dot_product_attention {{.*}} slopes(%{{.*}} : tensor<4xf32>) causal : tensor<2x7x4x8xf16>
  %2:2 = mp.scaled_dot_product_attention %q, %k, %k slopes(%s : tensor<4xf32>) causal : tensor<2x7x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>
  return
}

// A mask may lack dimensions, or have ones, and has any float type.
// CHECK-LABEL: @masks
func.func @masks(%q: tensor<2x7x4x8xf16>, %k: tensor<2x5x4x8xf16>, %a: tensor<2x4x7x5xf32>, %b: tensor<2x1x1x5xbf16>, %c: tensor<7x1xf64>, %d: tensor<i1>) {
  // CHECK-COUNT-4: mp.scaled_dot_product_attention
  %0:2 = mp.scaled_dot_product_attention %q, %k, %k mask(%a : tensor<2x4x7x5xf32>) : tensor<2x7x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>
  %1:2 = mp.scaled_dot_product_attention %q, %k, %k mask(%b : tensor<2x1x1x5xbf16>) : tensor<2x7x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>
  %2:2 = mp.scaled_dot_product_attention %q, %k, %k mask(%c : tensor<7x1xf64>) : tensor<2x7x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>
  %3:2 = mp.scaled_dot_product_attention %q, %k, %k mask(%d : tensor<i1>) : tensor<2x7x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>
  return
}

// CHECK-LABEL: @backward
func.func @backward(%g: tensor<?x7x6x3xf16>, %q: tensor<?x7x6x8xf16>, %k: tensor<?x5x2x8xf16>, %v: tensor<?x5x2x3xf16>, %s: tensor<?x7x6xf32>, %l: tensor<?xi32>) -> (tensor<?x7x6x8xf16>, tensor<?x5x2x8xf16>, tensor<?x5x2x3xf16>) {
  // CHECK: mp.scaled_dot_product_attention_backward {{.*}} lengths(%{{.*}} : tensor<?xi32>) causal : tensor<?x7x6x3xf16>, tensor<?x7x6x8xf16>, tensor<?x5x2x8xf16>, tensor<?x5x2x3xf16>, tensor<?x7x6xf32>, tensor<?x7x6xf32>
  %0:3 = mp.scaled_dot_product_attention_backward %g, %q, %k, %v, %s, %s lengths(%l : tensor<?xi32>) causal : tensor<?x7x6x3xf16>, tensor<?x7x6x8xf16>, tensor<?x5x2x8xf16>, tensor<?x5x2x3xf16>, tensor<?x7x6xf32>, tensor<?x7x6xf32>
  return %0#0, %0#1, %0#2 : tensor<?x7x6x8xf16>, tensor<?x5x2x8xf16>, tensor<?x5x2x3xf16>
}

// CHECK-LABEL: @dropout
func.func @dropout(%q: tensor<2x7x4x8xf16>, %k: tensor<2x5x4x8xf16>) {
  // CHECK: %[[KEY:.*]] = mp.random_key{{$}}
  %key = mp.random_key
  // CHECK: mp.scaled_dot_product_attention %{{.*}} dropout(%[[KEY]], 1.000000e-01) causal :
  %0:2 = mp.scaled_dot_product_attention %q, %k, %k dropout(%key, 0.1) causal : tensor<2x7x4x8xf16>, tensor<2x5x4x8xf16>, tensor<2x5x4x8xf16>
  return
}
