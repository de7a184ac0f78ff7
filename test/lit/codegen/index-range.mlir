// RUN: mp-translate --mp-to-program --mp-goal=run --mp-batch=4 --mp-function=moved %s | FileCheck %s --check-prefix=MOVED
// RUN: mp-translate --mp-to-program --mp-goal=run --mp-batch=4 --mp-function=f %s | FileCheck %s

// An input that is an index has a range, the tightest of its uses.
func.func @f(%t: tensor<50x8xf32>, %i: tensor<?x3xi32> {mp.name = "tokens"}, %y: tensor<?xui8> {mp.name = "labels"}) -> (tensor<40x8xf32>, tensor<?x10xf32>) {
  // CHECK: input {{.*}}tokens{{.*}} range 0 40
  %0 = mp.gather %t, %i dim(0) : tensor<50x8xf32>, tensor<?x3xi32>
  %1 = mp.scatter_add %0, %i dim(0) size(40) : tensor<?x3x8xf32>, tensor<?x3xi32>
  // CHECK: input {{.*}}labels{{.*}} range 0 10
  %2 = mp.one_hot %y classes(10) as f32 : tensor<?xui8>
  return %1, %2 : tensor<40x8xf32>, tensor<?x10xf32>
}

// Ops that move all elements do not hide how they are used.
func.func @moved(%t: tensor<50x8xf32>, %i: tensor<?x1x3xi32> {mp.name = "tokens"}, %z: tensor<?x10xf32>, %y: tensor<?x1xui8> {mp.name = "labels"})
    -> (tensor<?x3x1x8xf32>, tensor<f32>) {
  // MOVED: input {{.*}}tokens{{.*}} range 0 50
  %w = mp.cast %i : tensor<?x1x3xi32> to tensor<?x1x3xi64>
  %m = mp.transpose %w [0, 2, 1] : tensor<?x1x3xi64>
  %0 = mp.gather %t, %m dim(0) : tensor<50x8xf32>, tensor<?x3x1xi64>
  // MOVED: input {{.*}}labels{{.*}} range 0 10 exempt -100
  %l = mp.reshape %y : tensor<?x1xui8> to tensor<?xui8>
  %1 = mp.cross_entropy %z, %l : tensor<?x10xf32>, tensor<?xui8>
  return %0, %1 : tensor<?x3x1x8xf32>, tensor<f32>
}
