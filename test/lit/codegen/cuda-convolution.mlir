// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=layer --mp-headers=false %s | FileCheck %s --check-prefix=LAYER
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=input --mp-headers=false %s | FileCheck %s --check-prefix=INPUT
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=weight --mp-headers=false %s | FileCheck %s --check-prefix=WEIGHT
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=pointwise --mp-headers=false %s | FileCheck %s --check-prefix=POINTWISE
// RUN: mp-translate --mp-to-cuda --mp-goal=run --mp-function=depthwise --mp-headers=false %s | FileCheck %s --check-prefix=DEPTHWISE
// RUN: not mp-translate --mp-to-cuda --mp-goal=run --mp-function=wide %s 2>&1 | FileCheck %s --check-prefix=WIDE

// A product for each group: places, output channels, elements of the window. Bias and relu are in
// its kernel.
// LAYER: // conv f16 forward 2x16x10x16 16x3x3 groups 2 strides 2x1 low 1x0 high 0x0 dilations 1x1 = {{[0-9]+}}x
// LAYER: // as the product f16 nt 2x128x8x72
// LAYER: static constexpr int images = 2, groups = 2;
// LAYER: inputs = 8, outputs = 8;
// LAYER: strideY = 2, strideX = 1;
// LAYER: lowY = 1, lowX = 0;
// LAYER: maximum(
// LAYER: multiplyTile<Product, ConvolutionForward>
// LAYER-NOT: __global__
func.func @layer(%x: tensor<2x16x10x16xf16>, %w: tensor<16x3x3x8xf16>, %b: tensor<16xf16>) -> tensor<2x8x8x16xf16> {
  %y = mp.conv2d %x, %w, %b strides[2, 1] low[1, 0] high[0, 0] groups(2) :
    tensor<2x16x10x16xf16>, tensor<16x3x3x8xf16>, tensor<16xf16>
  %r = mp.relu %y : tensor<2x8x8x16xf16>
  return %r : tensor<2x8x8x16xf16>
}

// A product for each of the 2 x 2 phases of the stride, with at most 2 x 2 of the 3 x 3 taps.
// INPUT: // conv f16 backward_input 2x16x16x8 16x3x3 groups 1 strides 2x2 low 1x1 high 1x1 dilations 1x1 =
// INPUT: // as the product f16 nn 4x128x8x64
// INPUT: ConvolutionBackwardInput>
func.func @input(%g: tensor<2x8x8x16xf16>, %w: tensor<16x3x3x8xf16>) -> tensor<2x16x16x8xf16> {
  %d = mp.conv2d_backward_input %g, %w size[16, 16] strides[2, 2] low[1, 1] high[1, 1] :
    tensor<2x8x8x16xf16>, tensor<16x3x3x8xf16>
  return %d : tensor<2x16x16x8xf16>
}

// Its sums are long: blocks share them, and a second kernel adds the shares in order.
// WEIGHT: // conv bf16 backward_weight 128x32x32x16 16x3x3 {{.*}} = {{.*}} splits {{[1-9][0-9]}}
// WEIGHT: // as the product bf16 tn 1x16x144x131072
// WEIGHT: multiplySplit<Product, ConvolutionBackwardWeight>
// WEIGHT: // as the product bf16 tn 1x16x144x131072
// WEIGHT: addSplits<Product, ConvolutionBackwardWeight>
func.func @weight(%g: tensor<128x32x32x16xbf16>, %x: tensor<128x32x32x16xbf16>) -> tensor<16x3x3x16xbf16> {
  %d = mp.conv2d_backward_weight %g, %x size[3, 3] low[1, 1] high[1, 1] :
    tensor<128x32x32x16xbf16>, tensor<128x32x32x16xbf16>
  return %d : tensor<16x3x3x16xbf16>
}

// POINTWISE: // gemm f16 nt 1x98x24x16 =
func.func @pointwise(%x: tensor<2x7x7x16xf16>, %w: tensor<24x1x1x16xf16>) -> tensor<2x7x7x24xf16> {
  %y = mp.conv2d %x, %w : tensor<2x7x7x16xf16>, tensor<24x1x1x16xf16>
  return %y : tensor<2x7x7x24xf16>
}

// DEPTHWISE: #include "conv-depthwise.cuh"
// DEPTHWISE: Path path = Path::Taps
func.func @depthwise(%x: tensor<2x7x7x16xf16>, %w: tensor<16x3x3x1xf16>) -> tensor<2x7x7x16xf16> {
  %y = mp.conv2d %x, %w low[1, 1] high[1, 1] groups(16) : tensor<2x7x7x16xf16>, tensor<16x3x3x1xf16>
  return %y : tensor<2x7x7x16xf16>
}

// WIDE: cuda-convolution.mlir:[[#@LINE+2]]:8: error: 'mp.conv2d' op has no kernel on CUDA that counts to 1000000000
func.func @wide(%x: tensor<1x1x8x1xf16>, %w: tensor<1x1x2x1xf16>) -> tensor<1x1x2x1xf16> {
  %y = mp.conv2d %x, %w strides[1, 1000000000] high[0, 1000000000] : tensor<1x1x8x1xf16>, tensor<1x1x2x1xf16>
  return %y : tensor<1x1x2x1xf16>
}
