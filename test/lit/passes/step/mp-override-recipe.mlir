// RUN: mp-opt %s --mp-override-recipe='set=optimizer.lr=0.05;optimizer[1].betas=(0.8,0.99);schedule.to=0.5;schedule[1].steps=7' | FileCheck %s --check-prefix=GROUPS
// RUN: mp-opt %s --mp-override-recipe='set=minimize[0].ema=0.999;minimize.params=w*;minimize[1].optimizer=#mp.sgd<lr=2>' | FileCheck %s --check-prefix=WHOLE
// RUN: mp-opt %s --mp-override-recipe='set=minimize[0].stochastic_rounding=true;train.clip_norm=2;autocast.dtype=bf16;scaler.growth_interval=5;scaler.enabled=false' | FileCheck %s --check-prefix=OTHERS
// RUN: mp-opt %s --mp-override-recipe | FileCheck %s --check-prefix=NONE

// Numbers are written as everybody writes them.
// RUN: mp-opt %s --mp-override-recipe='set=optimizer.lr=5e-2;minimize.ema=.5;train.clip_norm=1e1;scaler.growth_interval=7' | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: growth_interval = 7
// NUMBERS: clip_norm = 1.000000e+01
// NUMBERS: ema = 5.000000e-01 : f64, optimizer = #mp.sgd<lr = 5.000000e-02

// Fields that were not named stay as they are.
// GROUPS: mp.minimize result(0) {optimizer = #mp.sgd<lr = 5.000000e-02, momentum = 9.000000e-01>, params = ["w"], schedule = #mp.linear<to = 5.000000e-01>}
// GROUPS: mp.minimize result(0) {optimizer = #mp.adamw<lr = 5.000000e-02, beta1 = 8.000000e-01, beta2 = 0.98999999999999999>
// RUN: mp-opt %s --mp-override-recipe='set=minimize.schedule=#mp.warmup<steps=3,then=#mp.cosine>;schedule.then.to=0.25' | FileCheck %s --check-prefix=NESTED
// NESTED: schedule = #mp.warmup<steps = 3, then = #mp.cosine<to = 2.500000e-01>>
// WHOLE: mp.minimize result(0) {ema = 0.99899999999999999 : f64, optimizer = #mp.sgd<lr = 1.000000e-01, momentum = 9.000000e-01>, params = ["w*"]
// WHOLE: mp.minimize result(0) {optimizer = #mp.sgd<lr = 2>, params = ["w*"]
// OTHERS: mp.scaler @scaler {enabled = false, growth_interval = 5 : i64
// OTHERS: mp.train @step of @loss autocast(<dtype = bf16>) scaler(@scaler) attributes {clip_norm = 2.000000e+00 : f64}
// OTHERS: stochastic_rounding
// RUN: not mp-opt %s --mp-override-recipe='set=schedule.then.to=0.25' 2>&1 | FileCheck %s --check-prefix=INNER
// INNER: cannot set schedule.then.to=0.25: unknown argument 'then', expected from, to, steps
// NONE: lr = 1.000000e-01

// RUN: not mp-opt %s --mp-override-recipe='set=optimizer.lrr=0.05' 2>&1 | FileCheck %s --check-prefix=FIELD
// FIELD: mp-override-recipe.mlir:[[#]]:{{.*}}: error: 'mp.minimize' op cannot set optimizer.lrr=0.05: unknown argument 'lrr', expected lr
// RUN: not mp-opt %s --mp-override-recipe='set=optimizer.lr=-1' 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: 'mp.minimize' op cannot set optimizer.lr=-1: lr is -1.000000e+00, expected zero or more
// RUN: not mp-opt %s --mp-override-recipe='set=optimiser.lr=1' 2>&1 | FileCheck %s --check-prefix=OWNER
// OWNER: error: 'mp.train' op cannot set optimiser.lr=1: 'optimiser' is not one of optimizer, schedule, minimize, train, autocast, scaler
// RUN: not mp-opt %s --mp-override-recipe='set=optimizer[2].lr=1' 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: error: 'mp.train' op cannot set optimizer[2].lr=1: the recipe has 2 mp.minimize, which are counted from 0
// RUN: not mp-opt %s --mp-override-recipe='set=train[0].clip_norm=1' 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: cannot set train[0].clip_norm=1: there is one train, without a number
// RUN: not mp-opt %s --mp-override-recipe='set=lr=1' 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: cannot set 'lr=1': expected a field and its value, such as optimizer.lr=0.05
// RUN: not mp-opt %s --mp-override-recipe='set=minimize.emma=1' 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// ATTRIBUTE: cannot set minimize.emma=1: it has no 'emma', did you mean 'ema'?
// RUN: not mp-opt %s --mp-override-recipe='set=scaler.growth_interval=often' 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: 'mp.scaler' op cannot set scaler.growth_interval=often: {{.+}}
// RUN: not mp-opt %s --mp-override-recipe='set=scaler.preset=touch' 2>&1 | FileCheck %s --check-prefix=PRESET
// PRESET: error: 'mp.scaler' op cannot set scaler.preset=touch: {{.*}}unknown scaler "touch"; did you mean "torch"?
// RUN: mp-opt %s --mp-override-recipe='set=autocast.policy=keras' | FileCheck %s --check-prefix=POLICY
// POLICY: autocast(<dtype = f16, policy = "keras">)
// RUN: not mp-opt %s --mp-override-recipe='set=optimizer.lr=0.1>,ema=1,optimizer=#mp.sgd<lr=1' 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: 'mp.minimize' op cannot set

module @net {
  mp.variable @w : tensor<4xf32> = #mp.init<zeros>
  mp.variable @x : tensor<4xf32> = #mp.init<zeros>
  func.func @loss(%a: tensor<4xf32> {mp.name = "a"}) -> (tensor<f32> {mp.name = "loss"}) {
    %w = mp.read @w : tensor<4xf32>
    %x = mp.read @x : tensor<4xf32>
    %p = mp.mul %w, %a : tensor<4xf32>, tensor<4xf32>
    %q = mp.mul %p, %x : tensor<4xf32>, tensor<4xf32>
    %l = mp.mean %q dims[0] : tensor<4xf32>
    return %l : tensor<f32>
  }
  mp.scaler @scaler {preset = "torch"}
  mp.train @step of @loss autocast(<dtype = f16, policy = "torch">) scaler(@scaler) {
    mp.minimize result(0) {params = ["w"], optimizer = #mp.sgd<lr = 0.1, momentum = 0.9>, schedule = #mp.linear<to = 0.0>}
    mp.minimize result(0) {params = ["x"], optimizer = #mp.adamw<lr = 0.1, betas = (0.9, 0.98)>, schedule = #mp.linear<to = 0.0>}
  }
}
