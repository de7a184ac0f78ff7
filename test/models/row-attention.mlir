// The 28 rows of an image attend to one another: batched products with both
// transposes, softmax over rows of 28, a normalisation built of means, a residual.
module @row_attention {
  mp.variable @q.weight : tensor<20x28xf32> = #mp.init<kaiming_uniform>
  mp.variable @k.weight : tensor<20x28xf32> = #mp.init<kaiming_uniform>
  mp.variable @v.weight : tensor<28x28xf32> = #mp.init<kaiming_uniform>
  mp.variable @out.weight : tensor<10x28xf32> = #mp.init<kaiming_uniform>
  mp.variable @out.bias : tensor<10xf32> = #mp.init<zeros>

  func.func @loss(%image: tensor<?x28x28xui8> {mp.name = "image"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}) {
    %pixels = mp.cast %image : tensor<?x28x28xui8> to tensor<?x28x28xf32>
    %white = mp.constant dense<255.0> : tensor<f32>
    %x = mp.div %pixels, %white : tensor<?x28x28xf32>, tensor<f32>
    %wq = mp.read @q.weight : tensor<20x28xf32>
    %wk = mp.read @k.weight : tensor<20x28xf32>
    %wv = mp.read @v.weight : tensor<28x28xf32>
    %q = mp.linear %x, %wq : tensor<?x28x28xf32>, tensor<20x28xf32>
    %k = mp.linear %x, %wk : tensor<?x28x28xf32>, tensor<20x28xf32>
    %v = mp.linear %x, %wv : tensor<?x28x28xf32>, tensor<28x28xf32>
    %scores = mp.matmul %q, %k transpose_b : tensor<?x28x20xf32>, tensor<?x28x20xf32>
    %scale = mp.constant dense<0.2236068> : tensor<f32>
    %scaled = mp.mul %scores, %scale : tensor<?x28x28xf32>, tensor<f32>
    %p = mp.softmax %scaled dim(2) : tensor<?x28x28xf32>
    %mixed = mp.matmul %p, %v : tensor<?x28x28xf32>, tensor<?x28x28xf32>
    %r = mp.add %mixed, %x : tensor<?x28x28xf32>, tensor<?x28x28xf32>
    %mean = mp.mean %r dims[2] keepdim : tensor<?x28x28xf32>
    %c = mp.sub %r, %mean : tensor<?x28x28xf32>, tensor<?x28x1xf32>
    %square = mp.mul %c, %c : tensor<?x28x28xf32>, tensor<?x28x28xf32>
    %variance = mp.mean %square dims[2] keepdim : tensor<?x28x28xf32>
    %epsilon = mp.constant dense<1.0e-5> : tensor<f32>
    %safe = mp.add %variance, %epsilon : tensor<?x28x1xf32>, tensor<f32>
    %deviation = mp.sqrt %safe : tensor<?x28x1xf32>
    %n = mp.div %c, %deviation : tensor<?x28x28xf32>, tensor<?x28x1xf32>
    %pooled = mp.mean %n dims[1] : tensor<?x28x28xf32>
    %w = mp.read @out.weight : tensor<10x28xf32>
    %b = mp.read @out.bias : tensor<10xf32>
    %logits = mp.linear %pooled, %w, %b : tensor<?x28xf32>, tensor<10x28xf32>, tensor<10xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    %accuracy = mp.accuracy %logits, %label : tensor<?x10xf32>, tensor<?xui8>
    return %loss, %accuracy : tensor<f32>, tensor<f32>
  }

  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = bf16, policy = "torch">) scaler(@scaler) {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.adamw<lr = 2.0e-3>}
  }
  mp.data @train {image = #mp.column<"train-images*" as idx, ui8>, label = #mp.column<"train-labels*" as idx, ui8>}
}
