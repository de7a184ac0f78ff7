// RUN: mp-translate --mp-to-program --mp-goal=run --mp-batch=4 %s | FileCheck %s

// An input that is an index has a range, the tightest of its uses.
func.func @f(%t: tensor<50x8xf32>, %i: tensor<?x3xi32> {mp.name = "tokens"}, %y: tensor<?xui8> {mp.name = "labels"}) -> (tensor<40x8xf32>, tensor<?x10xf32>) {
  // CHECK: input {{.*}}tokens{{.*}} range 0 40
  %0 = mp.gather %t, %i dim(0) : tensor<50x8xf32>, tensor<?x3xi32>
  %1 = mp.scatter_add %0, %i dim(0) size(40) : tensor<?x3x8xf32>, tensor<?x3xi32>
  // CHECK: input {{.*}}labels{{.*}} range 0 10
  %2 = mp.one_hot %y classes(10) as f32 : tensor<?xui8>
  return %1, %2 : tensor<40x8xf32>, tensor<?x10xf32>
}
