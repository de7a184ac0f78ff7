// A bias before a norm has a gradient that is zero but for rounding; a constant underflows in f16; one op says itself
// how it runs, one stands in a region that does, and two of one kind share a line.
mp.variable @w : tensor<6x6xf32> = #mp.init<kaiming_uniform>
mp.variable @b : tensor<6xf32> = #mp.init<uniform, fan_in = 6>
func.func @loss(%x: tensor<?x6xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @w : tensor<6x6xf32>
  %b = mp.read @b : tensor<6xf32>
  %h = mp.linear %x, %w, %b : tensor<?x6xf32>, tensor<6x6xf32>, tensor<6xf32> loc("first")
  %mean = mp.mean %h dims[0] keepdim {mp.autocast = "f32"} : tensor<?x6xf32>
  %c = mp.sub %h, %mean : tensor<?x6xf32>, tensor<1x6xf32>
  %tiny = mp.constant dense<1.0e-12> : tensor<f32>
  %safe = mp.add %c, %tiny : tensor<?x6xf32>, tensor<f32>
  %t = mp.tanh %safe : tensor<?x6xf32>  %u = mp.tanh %t : tensor<?x6xf32>
  %e = mp.autocast policy("torch") {
    %i = mp.exp %u : tensor<?x6xf32>
    mp.yield %i : tensor<?x6xf32>
  } : tensor<?x6xf32>
  %s = mp.mul %e, %e : tensor<?x6xf32>, tensor<?x6xf32>
  %l = mp.mean %s dims[0, 1] {mp.autocast = "f32"} : tensor<?x6xf32>
  return %l : tensor<f32>
}
mp.scaler @scaler {preset = "torch"}
mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
  mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0e-3>}
}
mp.data @train {x = #mp.column<"x.npy" as npy, f32>}
