// Reads a learnt memory by attention: every transpose of a product, softmax between two of them.
// classes: 11
module @attention {
  mp.variable @query : tensor<18x33xf32> = #mp.init<kaiming_uniform>
  mp.variable @mix : tensor<18x18xf32> = #mp.init<kaiming_uniform>
  mp.variable @keys : tensor<37x18xf32> = #mp.init<kaiming_uniform>
  mp.variable @values : tensor<37x23xf32> = #mp.init<kaiming_uniform>
  mp.variable @out : tensor<23x11xf32> = #mp.init<kaiming_uniform>

  func.func @loss(%x: tensor<?x33xf32> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %wq = mp.read @query : tensor<18x33xf32>
    %q = mp.matmul %x, %wq transpose_b : tensor<?x33xf32>, tensor<18x33xf32>
    %k = mp.read @keys : tensor<37x18xf32>
    %mix = mp.read @mix : tensor<18x18xf32>
    %mixed = mp.matmul %mix, %k transpose_a transpose_b : tensor<18x18xf32>, tensor<37x18xf32>
    %scores = mp.matmul %q, %mixed : tensor<?x18xf32>, tensor<18x37xf32>
    %scale = mp.constant dense<0.235702261> : tensor<f32>
    %scaled = mp.mul %scores, %scale : tensor<?x37xf32>, tensor<f32>
    %p = mp.softmax %scaled dim(1) : tensor<?x37xf32>
    %v = mp.read @values : tensor<37x23xf32>
    %read = mp.matmul %p, %v : tensor<?x37xf32>, tensor<37x23xf32>
    %w = mp.read @out : tensor<23x11xf32>
    %logits = mp.matmul %read, %w : tensor<?x23xf32>, tensor<23x11xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x11xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }

  mp.train @step of @loss autocast(<dtype = bf16>) {
    mp.minimize result(0) {optimizer = #mp.adamw<lr = 1.0e-3>}
  }
  mp.data @train {x = #mp.column<"x.npy" as npy, f32>, label = #mp.column<"label.npy" as npy, ui8>}
}
