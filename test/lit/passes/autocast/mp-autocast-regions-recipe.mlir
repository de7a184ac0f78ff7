// RUN: mp-opt %s -mp-autocast | FileCheck %s -enable-var-scope --check-prefixes=ALL,OWN
// RUN: mp-opt %s -mp-train-pipeline='batch=4' -o /dev/null
// RUN: mp-opt %s -mp-train-pipeline='batch=4 precision=fp32' -o /dev/null
// RUN: mp-run bench %s --batch 4 --steps 2 --warmup 0 --threads 1 | FileCheck %s --check-prefix=BENCH

// A region casts by itself if the recipe does not: in PyTorch, too, the context
// manager needs no other. After it values keep the type that it left.
mp.variable @w : tensor<8x8xf32> = #mp.init<kaiming_uniform>
mp.variable @v : tensor<8x8xf32> = #mp.init<kaiming_uniform>
// ALL-LABEL: @loss
func.func @loss(%x: tensor<?x8xf32>) -> tensor<f32> {
  %w = mp.read @w : tensor<8x8xf32>
  %v = mp.read @v : tensor<8x8xf32>
  // ALL: mp.linear %{{.*}} : tensor<?x8xf32>, tensor<8x8xf32>
  %h = mp.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %y = mp.autocast dtype(bf16) {
    // OWN: %[[Y:.+]] = mp.linear %{{.*}} : tensor<?x8xbf16>, tensor<8x8xbf16>
    %1 = mp.linear %h, %v : tensor<?x8xf32>, tensor<8x8xf32>
    mp.yield %1 : tensor<?x8xf32>
  } : tensor<?x8xf32>
  // OWN: %[[WIDE:.+]] = mp.cast %[[Y]]
  // OWN: mp.mul %[[WIDE]], %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>
  %m = mp.mul %y, %h : tensor<?x8xf32>, tensor<?x8xf32>
  %l = mp.mean %m dims[0, 1] : tensor<?x8xf32>
  return %l : tensor<f32>
}
// BENCH: step
mp.train @step of @loss {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-2>}
}
