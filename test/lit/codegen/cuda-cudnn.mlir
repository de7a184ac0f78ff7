// RUN: echo 'mp.plan 1 sm_80' > %t.plan
// RUN: echo 'conv f16 forward 2x8x8x16 16x3x3 groups 2 strides 1x1 low 1x1 high 1x1 dilations 1x1 = cudnn' >> %t.plan
// RUN: echo 'conv f16 backward_weight 2x8x8x16 16x3x3 groups 2 strides 1x1 low 1x1 high 1x1 dilations 1x1 = cudnn' >> %t.plan
// RUN: mp-translate --mp-to-program --mp-target=cuda --mp-goal=run --mp-function=layer --mp-plan=%t.plan %s | FileCheck %s --check-prefix=LAYER
// RUN: mp-translate --mp-to-program --mp-target=cuda --mp-goal=run --mp-function=weight --mp-plan=%t.plan %s | FileCheck %s --check-prefix=WEIGHT
// RUN: mp-translate --mp-to-program --mp-target=cuda --mp-goal=run --mp-function=sums --mp-plan=%t.plan %s | FileCheck %s --check-prefix=SUMS
// RUN: mp-translate --mp-to-program --mp-target=cuda --mp-goal=run --mp-function=pointwise --mp-plan=%t.plan %s | FileCheck %s --check-prefix=POINTWISE
// RUN: not mp-translate --mp-to-program --mp-target=cuda --mp-goal=run --mp-function=layer --mp-plan=%t.none %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: {{.*}}.none: No such file or directory

// The library adds the bias; relu is a kernel of its own. The workspace comes last, and has its place in the arena.
// LAYER: call cudnn.conv2d {{.*}} flops 294912 set kind="forward" input=[2,8,8,16] weight=[16,3,3,8] output=[2,8,8,16]
// LAYER-SAME: strides=[1,1] low=[1,1] high=[1,1] dilations=[1,1] type="f16" bias=1 compute="f32" workspace=67108864
// LAYER-SAME: args input0+0 input1+0 input2+0 arena+[[#%u,RESULT:]] arena+[[#%u,SPACE:]]
// LAYER-NEXT: launch {{.*}} args arena+[[#RESULT]] arena+[[#RESULT]] ; relu
// LAYER: buffer [[#SPACE]] 67108864 steps 0 0 "temporary of conv2d"
func.func @layer(%x: tensor<2x8x8x16xf16>, %w: tensor<16x3x3x8xf16>, %b: tensor<16xf16>) -> tensor<2x8x8x16xf16> {
  %y = mp.conv2d %x, %w, %b low[1, 1] high[1, 1] groups(2) :
    tensor<2x8x8x16xf16>, tensor<16x3x3x8xf16>, tensor<16xf16>
  %r = mp.relu %y : tensor<2x8x8x16xf16>
  return %r : tensor<2x8x8x16xf16>
}

// WEIGHT: call cudnn.conv2d {{.*}} set kind="backward_weight" {{.*}} args input0+0 input1+0 arena+{{[0-9]+}} arena+{{[0-9]+$}}
func.func @weight(%g: tensor<2x8x8x16xf16>, %x: tensor<2x8x8x16xf16>) -> tensor<16x3x3x8xf16> {
  %d = mp.conv2d_backward_weight %g, %x size[3, 3] low[1, 1] high[1, 1] groups(2) :
    tensor<2x8x8x16xf16>, tensor<2x8x8x16xf16>
  return %d : tensor<16x3x3x8xf16>
}

// Sums that stay in f32 are not rounded as the library's would be.
// SUMS-NOT: cudnn.conv2d
// SUMS: ; conv2d_backward_weight
func.func @sums(%g: tensor<2x8x8x16xf16>, %x: tensor<2x8x8x16xf16>) -> tensor<16x3x3x8xf32> {
  %d = mp.conv2d_backward_weight %g, %x size[3, 3] low[1, 1] high[1, 1] groups(2) out_dtype(f32) :
    tensor<2x8x8x16xf16>, tensor<2x8x8x16xf16>
  return %d : tensor<16x3x3x8xf32>
}

// A convolution that is a product is cuBLASLt's, if anyone's.
// POINTWISE-NOT: cudnn.conv2d
// POINTWISE: ; conv2d
func.func @pointwise(%x: tensor<2x7x7x16xf16>, %w: tensor<24x1x1x16xf16>) -> tensor<2x7x7x24xf16> {
  %y = mp.conv2d %x, %w : tensor<2x7x7x16xf16>, tensor<24x1x1x16xf16>
  return %y : tensor<2x7x7x24xf16>
}
