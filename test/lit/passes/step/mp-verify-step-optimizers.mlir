// RUN: mp-opt %s -mp-verify-step | FileCheck %s

mp.variable @c : tensor<4xf32> = #mp.init<zeros>
mp.variable derived @c.f16 : tensor<4xf16> from @c
mp.variable slot @c.m : tensor<4xf32> = #mp.init<zeros>
mp.variable slot @c.applied : tensor<i64> = #mp.init<zeros>
mp.variable @m : tensor<4xf32> = #mp.init<zeros>
mp.variable buffer @mean : tensor<f32> = #mp.init<zeros>
mp.variable scaler @k : tensor<f32> = #mp.init<ones>
mp.variable scaler @t : tensor<i32> = #mp.init<zeros>
mp.variable attempt @attempts : tensor<i64> = #mp.init<zeros>

// Two optimizers that keep the protocol. The critic's copy may overflow too.
// CHECK-LABEL: @step
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>, %fits: tensor<i1>)
    -> (tensor<i1> {mp.name = "skipped"}, tensor<i1> {mp.name = "skipped.c"}, tensor<i1> {mp.name = "skipped.m"}) {
  %k = mp.read @k : tensor<f32>
  %t = mp.read @t : tensor<i32>
  %gc, %bad_c = mp.unscale_and_check %x, %k : tensor<4xf32>, tensor<f32>
  %gm, %bad_m = mp.unscale_and_check %y, %k : tensor<4xf32>, tensor<f32>
  %bad = mp.or %bad_c, %bad_m : tensor<i1>, tensor<i1>
  %k1, %t1, %e = mp.update_scale %k, %t, %bad : tensor<f32>, tensor<i32>, tensor<i1>
  mp.write @k, %k1 : tensor<f32>
  mp.write @t, %t1 : tensor<i32>
  %one = mp.constant dense<1> : tensor<i64>
  %attempts = mp.read @attempts : tensor<i64>
  %tries1 = mp.add %attempts, %one : tensor<i64>, tensor<i64>
  mp.write @attempts, %tries1 : tensor<i64>
  %applied = mp.read @c.applied : tensor<i64>
  %applied1 = mp.add %applied, %one : tensor<i64>, tensor<i64>
  %lr = mp.schedule %applied by #mp.cosine<steps = 10>
  %c = mp.read @c : tensor<4xf32>
  %buffer = mp.read @c.m : tensor<4xf32>
  %c1, %buffer1 = mp.sgd<momentum = 9.0e-1> %c, %gc, %lr, %applied1, %buffer
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<4xf32>
  %low = mp.cast %c1 : tensor<4xf32> to tensor<4xf16>
  %overflow = mp.not %fits : tensor<i1>
  %skip_c = mp.or %bad_c, %overflow : tensor<i1>, tensor<i1>
  %skip = mp.or %bad, %overflow : tensor<i1>, tensor<i1>
  %ok_c = mp.not %skip_c : tensor<i1>
  mp.write @c, %c1 if %ok_c : tensor<4xf32>
  mp.write @c.f16, %low if %ok_c : tensor<4xf16>
  mp.write @c.m, %buffer1 if %ok_c : tensor<4xf32>
  mp.write @c.applied, %applied1 if %ok_c : tensor<i64>
  %ok_m = mp.not %bad_m : tensor<i1>
  mp.write @m, %gm if %ok_m : tensor<4xf32>
  %ok = mp.not %skip : tensor<i1>
  mp.write @mean, %k if %ok : tensor<f32>
  return %skip, %skip_c, %bad_m : tensor<i1>, tensor<i1>, tensor<i1>
}
