// A linear classifier of pictures, with a random shift.
mp.variable @w : tensor<2x192xf32> = #mp.init<kaiming_uniform>
func.func @loss(%image: tensor<?x8x8x3xui8> {mp.name = "image"}, %label: tensor<?xui8> {mp.name = "label"})
    -> (tensor<f32> {mp.name = "loss"}, tensor<f32> {mp.name = "accuracy"}) {
  %r = mp.uniform {low = -1.0, high = 2.0} : tensor<?xf32>
  %f = mp.floor %r : tensor<?xf32>
  %y = mp.cast %f : tensor<?xf32> to tensor<?xi32>
  %moved = mp.augment_images %image, %y, %y : tensor<?x8x8x3xui8>, tensor<?xi32>, tensor<?xi32>
  %pixels = mp.cast %moved : tensor<?x8x8x3xui8> to tensor<?x8x8x3xf32>
  %white = mp.constant dense<255.0> : tensor<f32>
  %x = mp.div %pixels, %white : tensor<?x8x8x3xf32>, tensor<f32>
  %flat = mp.reshape %x : tensor<?x8x8x3xf32> to tensor<?x192xf32>
  %w = mp.read @w : tensor<2x192xf32>
  %logits = mp.linear %flat, %w : tensor<?x192xf32>, tensor<2x192xf32>
  %loss = mp.cross_entropy %logits, %label : tensor<?x2xf32>, tensor<?xui8>
  %accuracy = mp.accuracy %logits, %label : tensor<?x2xf32>, tensor<?xui8>
  return %loss, %accuracy : tensor<f32>, tensor<f32>
}
mp.train @step of @loss {mp.minimize result(0) {optimizer = #mp.sgd<lr = 0.1, momentum = 0.9>}}
mp.data @train {image = #mp.column<"train" as images, ui8 shape[8, 8, 3]>, label = #mp.column<"train" as classes, ui8>}
mp.data @test {image = #mp.column<"val" as images, ui8 shape[8, 8, 3]>, label = #mp.column<"val" as classes, ui8>}
