// RUN: mp-opt %s --mp-recognize-attention --cse | FileCheck %s

// As Hugging Face's modules have it: heads before tokens, which the op does not need.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[Q:.*]]: tensor<?x6x2x4xf32>, %[[K:.*]]: tensor<?x6x2x4xf32>, %[[V:.*]]: tensor<?x6x2x4xf32>
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = mp.scaled_dot_product_attention %[[Q]], %[[K]], %[[V]] {scale = 5.000000e-01 : f64} :
// CHECK-NEXT: %[[H:.*]] = mp.transpose %[[Y]] [0, 2, 1, 3]
// CHECK-NEXT: return %[[H]]
func.func @heads(%q: tensor<?x6x2x4xf32>, %k: tensor<?x6x2x4xf32>, %v: tensor<?x6x2x4xf32>) -> tensor<?x2x6x4xf32> {
  %q1 = mp.transpose %q [0, 2, 1, 3] : tensor<?x6x2x4xf32>
  %k1 = mp.transpose %k [0, 2, 3, 1] : tensor<?x6x2x4xf32>
  %v1 = mp.transpose %v [0, 2, 1, 3] : tensor<?x6x2x4xf32>
  %s = mp.matmul %q1, %k1 : tensor<?x2x6x4xf32>, tensor<?x2x4x6xf32>
  %two = mp.constant dense<2.0> : tensor<f32>
  %t = mp.div %s, %two : tensor<?x2x6x6xf32>, tensor<f32>
  %p = mp.softmax %t dim(3) : tensor<?x2x6x6xf32>
  %y = mp.matmul %p, %v1 : tensor<?x2x6x6xf32>, tensor<?x2x6x4xf32>
  return %y : tensor<?x2x6x4xf32>
}

// A mask that is added, and sequences without heads.
// CHECK-LABEL: func.func @mask(
// CHECK: mp.reshape %{{.*}} : tensor<?x6x4xf32> to tensor<?x6x1x4xf32>
// CHECK: mp.reshape %{{.*}} : tensor<?x1x6xf32> to tensor<?x1x1x6xf32>
// CHECK: mp.scaled_dot_product_attention {{.*}} mask(%{{.*}} : tensor<?x1x1x6xf32>) {scale = 1.000000e+00 : f64}
// CHECK-NOT: mp.softmax
func.func @mask(%q: tensor<?x6x4xf32>, %m: tensor<?x1x6xf32>) -> tensor<?x6x4xf32> {
  %s = mp.matmul %q, %q transpose_b : tensor<?x6x4xf32>, tensor<?x6x4xf32>
  %t = mp.add %m, %s : tensor<?x1x6xf32>, tensor<?x6x6xf32>
  %p = mp.softmax %t dim(2) : tensor<?x6x6xf32>
  %y = mp.matmul %p, %q : tensor<?x6x6xf32>, tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}

// CHECK-LABEL: func.func @causal(
// CHECK: mp.scaled_dot_product_attention {{.*}} causal {scale = 2.500000e-01 : f64}
// CHECK-NOT: mp.softmax
func.func @causal(%q: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %s = mp.matmul %q, %q transpose_b : tensor<6x4xf32>, tensor<6x4xf32>
  %quarter = mp.constant dense<0.25> : tensor<f32>
  %t = mp.mul %quarter, %s : tensor<f32>, tensor<6x6xf32>
  %i = mp.iota dim(0) : tensor<6x1xi32>
  %j = mp.iota dim(1) : tensor<1x6xi32>
  %later = mp.compare gt %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %never = mp.constant dense<-1.0e+09> : tensor<f32>
  %u = mp.select %later, %never, %t : tensor<6x6xi1>, tensor<f32>, tensor<6x6xf32>
  %p = mp.softmax %u dim(1) : tensor<6x6xf32>
  %y = mp.matmul %p, %q : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// Written in 16 bits, the ops round what attention keeps in f32.
// CHECK-LABEL: func.func @half(
// CHECK-NOT: mp.scaled_dot_product_attention
func.func @half(%q: tensor<6x4xf16>) -> tensor<6x4xf16> {
  %s = mp.matmul %q, %q transpose_b : tensor<6x4xf16>, tensor<6x4xf16>
  %p = mp.softmax %s dim(1) : tensor<6x6xf16>
  %y = mp.matmul %p, %q : tensor<6x6xf16>, tensor<6x4xf16>
  return %y : tensor<6x4xf16>
}

// A dropout of the weights is the op's, by the same stream. In evaluation there is none.
// RUN: mp-opt %s --mp-number-streams --mp-recognize-attention | FileCheck %s --check-prefix=DROP
// RUN: mp-opt %s --mp-number-streams --mp-recognize-attention --mp-set-mode=mode=eval | FileCheck %s --check-prefix=EVAL
// CHECK-LABEL: func.func @dropout(
// DROP-LABEL: func.func @dropout(
// DROP: %[[KEY:.*]] = mp.random_key stream(0)
// DROP: mp.scaled_dot_product_attention {{.*}} dropout(%[[KEY]], 1.000000e-01) {scale = 1.000000e+00 : f64}
// DROP-NOT: mp.dropout
// EVAL-LABEL: func.func @dropout(
// EVAL: mp.scaled_dot_product_attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {scale = 1.000000e+00 : f64}
func.func @dropout(%q: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %s = mp.matmul %q, %q transpose_b : tensor<6x4xf32>, tensor<6x4xf32>
  %p = mp.softmax %s dim(1) : tensor<6x6xf32>
  %d = mp.dropout %p {p = 0.1} : tensor<6x6xf32>
  %y = mp.matmul %d, %q : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// What is not attention, or not it alone, stays: other choices, a mask that is scaled, weights that are returned, a softmax
// over queries, a dtype of one's own.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: mp.scaled_dot_product_attention
func.func @others(%q: tensor<6x4xf32>, %f: tensor<6x6xi1>, %m: tensor<6x6xf32>)
    -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x6xf32>, tensor<6x4xf32>, tensor<6x4xf32>) {
  %never = mp.constant dense<-1.0e+09> : tensor<f32>
  %half = mp.constant dense<0.5> : tensor<f32>
  %s0 = mp.matmul %q, %q transpose_b : tensor<6x4xf32>, tensor<6x4xf32>
  %t0 = mp.select %f, %s0, %never : tensor<6x6xi1>, tensor<6x6xf32>, tensor<f32>
  %p0 = mp.softmax %t0 dim(1) : tensor<6x6xf32>
  %y0 = mp.matmul %p0, %q : tensor<6x6xf32>, tensor<6x4xf32>
  %s1 = mp.matmul %q, %q transpose_b : tensor<6x4xf32>, tensor<6x4xf32>
  %t1 = mp.add %s1, %m : tensor<6x6xf32>, tensor<6x6xf32>
  %u1 = mp.mul %t1, %half : tensor<6x6xf32>, tensor<f32>
  %p1 = mp.softmax %u1 dim(1) : tensor<6x6xf32>
  %y1 = mp.matmul %p1, %q : tensor<6x6xf32>, tensor<6x4xf32>
  %s2 = mp.matmul %q, %q transpose_b : tensor<6x4xf32>, tensor<6x4xf32>
  %p2 = mp.softmax %s2 dim(1) : tensor<6x6xf32>
  %y2 = mp.matmul %p2, %q : tensor<6x6xf32>, tensor<6x4xf32>
  %s3 = mp.matmul %q, %q transpose_b : tensor<6x4xf32>, tensor<6x4xf32>
  %p3 = mp.softmax %s3 dim(0) : tensor<6x6xf32>
  %y3 = mp.matmul %p3, %q : tensor<6x6xf32>, tensor<6x4xf32>
  %s4 = mp.matmul %q, %q transpose_b : tensor<6x4xf32>, tensor<6x4xf32>
  %p4 = mp.softmax %s4 dim(1) {mp.autocast = "low"} : tensor<6x6xf32>
  %y4 = mp.matmul %p4, %q : tensor<6x6xf32>, tensor<6x4xf32>
  return %y0, %y1, %y2, %p2, %y3, %y4 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x6xf32>,
      tensor<6x4xf32>, tensor<6x4xf32>
}
