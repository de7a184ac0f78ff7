// Sums, means and extremes over rows, columns and all; log-softmax and logsumexp; a transpose that stays.
module @reductions {
  mp.variable @weight : tensor<21x17xf32> = #mp.init<kaiming_uniform>
  mp.variable @scale : tensor<21xf32> = #mp.init<constant, value = 0.5>

  func.func @loss(%x: tensor<?x17xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "spread"}) {
    %w = mp.read @weight : tensor<21x17xf32>
    %positive = mp.abs %w : tensor<21x17xf32>
    %t = mp.transpose %positive [1, 0] : tensor<21x17xf32>
    %h = mp.matmul %x, %t : tensor<?x17xf32>, tensor<17x21xf32>
    %s = mp.read @scale : tensor<21xf32>
    %scaled = mp.mul %h, %s : tensor<?x21xf32>, tensor<21xf32>
    %p = mp.log_softmax %scaled dim(1) : tensor<?x21xf32>
    %columns = mp.mean %p dims[0] : tensor<?x21xf32>
    %e = mp.exp %columns : tensor<21xf32>
    %entropy = mp.mul %e, %columns : tensor<21xf32>, tensor<21xf32>
    %total = mp.sum %entropy dims[0] : tensor<21xf32>
    %high = mp.max %scaled dims[1] : tensor<?x21xf32>
    %low = mp.min %scaled dims[1] : tensor<?x21xf32>
    %range = mp.sub %high, %low : tensor<?xf32>, tensor<?xf32>
    %spread = mp.mean %range dims[0] : tensor<?xf32>
    %one = mp.constant dense<1.0> : tensor<f32>
    %above = mp.add %spread, %one : tensor<f32>, tensor<f32>
    %log = mp.log %above : tensor<f32>
    %loss = mp.sub %total, %log : tensor<f32>, tensor<f32>
    return %loss, %spread : tensor<f32>, tensor<f32>
  }

  mp.train @step of @loss autocast(<dtype = bf16>) {
    mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1, momentum = 0.9>}
  }
  mp.data @train {x = #mp.column<"x.npy" as npy, f32>}
}
