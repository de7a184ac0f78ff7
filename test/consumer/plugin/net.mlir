mp.variable @w : tensor<16x8xf32> = #mp.init<kaiming_uniform>
mp.variable @v : tensor<3x16xf32> = #mp.init<kaiming_uniform>

func.func @loss(%x: tensor<?x8xf32> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<16x8xf32>
  %h = mp.linear %x, %w : tensor<?x8xf32>, tensor<16x8xf32>
  %a = own.softsign %h : tensor<?x16xf32>
  %v = mp.read @v : tensor<3x16xf32>
  %y = mp.linear %a, %v : tensor<?x16xf32>, tensor<3x16xf32>
  %loss = mp.cross_entropy %y, %label : tensor<?x3xf32>, tensor<?xui8>
  return %loss : tensor<f32>
}
mp.train @step of @loss autocast(<dtype = bf16>) { mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1>} }
