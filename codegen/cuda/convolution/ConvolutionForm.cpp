//===- ConvolutionForm.cpp - a convolution as a product -------------------===//
#include "codegen/cuda/convolution/ConvolutionForm.h"
#include "codegen/cuda/contraction/Contraction.h"
#include "dialect/WindowRules.h"
#include "dialect/ops/Convolution.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

namespace {
/// The tensors of a convolution, one of them the op's result.
struct Tensors {
  ConvolutionSizes::Kind kind;
  RankedTensorType input, weight, output;
};
} // namespace

static Tensors tensorsOf(Operation *anchor) {
  using Kind = ConvolutionSizes::Kind;
  return llvm::TypeSwitch<Operation *, Tensors>(anchor)
      .Case([](Conv2dOp op) {
        return Tensors{Kind::Forward, op.getInput().getType(),
                       op.getWeight().getType(), op.getType()};
      })
      .Case([](Conv2dBackwardInputOp op) {
        return Tensors{Kind::BackwardInput, op.getType(),
                       op.getWeight().getType(), op.getGradient().getType()};
      })
      .Case([](Conv2dBackwardWeightOp op) {
        return Tensors{Kind::BackwardWeight, op.getInput().getType(),
                       op.getType(), op.getGradient().getType()};
      });
}

ConvolutionForm::ConvolutionForm(Operation *anchor) {
  Tensors tensors = tensorsOf(anchor);
  ConvolutionSizes &s = convolution;
  s.kind = tensors.kind;
  s.images = tensors.input.getDimSize(0);
  s.inputs = tensors.weight.getDimSize(3);
  s.groups = tensors.input.getDimSize(3) / s.inputs;
  s.outputs = tensors.output.getDimSize(3) / s.groups;
  llvm::TypeSwitch<Operation *>(anchor)
      .Case<Conv2dOp, Conv2dBackwardInputOp, Conv2dBackwardWeightOp>(
          [&](auto op) {
            Window window = windowOf(op, tensors.weight.getShape().slice(1, 2));
            for (int dim : {0, 1}) {
              s.input[dim] = tensors.input.getDimSize(1 + dim);
              s.window[dim] = window[dim].size;
              s.strides[dim] = window[dim].stride;
              s.low[dim] = window[dim].low;
              s.high[dim] = window[dim].high;
              s.dilations[dim] = window[dim].dilation;
            }
            s.tf32 = op.getCompute() && isa<FloatTF32Type>(*op.getCompute());
          });
  type = elementType(anchor->getOperand(0));
  resultType = elementType(anchor->getResult(0));
  if (anchor->getNumOperands() > 2)
    bias = elementType(anchor->getOperand(2));
  s.type = elementOf(type).value_or(ElementType::F32);
  s.tf32 &= s.type == ElementType::F32;
}

ContractionSpec ConvolutionForm::product() const {
  GemmShape shape = convolution.product();
  ContractionSpec spec;
  spec.a = spec.b = type, spec.c = resultType, spec.bias = bias;
  spec.tf32 = shape.tf32;
  if (shape.batch > 1)
    spec.batch = {shape.batch};
  spec.m = shape.m, spec.n = shape.n, spec.k = shape.k;
  spec.transposeA = shape.transposeA, spec.transposeB = shape.transposeB;
  return spec;
}

ProductForm ConvolutionForm::form(const GemmShape &shape) const {
  using Kind = ConvolutionSizes::Kind;
  const ConvolutionSizes &s = convolution;
  ProductForm form;
  form.shape = shape;
  form.header = "conv.cuh";
  form.path = pathName(pathOf(shape));
  form.operands = s.kind == Kind::Forward         ? "ConvolutionForward"
                  : s.kind == Kind::BackwardInput ? "ConvolutionBackwardInput"
                                                  : "ConvolutionBackwardWeight";
  if (s.isDepthwise()) {
    form.header = "conv-depthwise.cuh";
    form.hasRing = false;
    form.path = s.wrapsColumns() ? "Places" : "Taps";
    if (s.wrapsColumns())
      form.operands = "DepthwiseBackwardWeight";
  } else if (!s.wrapsColumns()) {
    form.hasPlaces = true;
    form.across = s.groups;
  }
  form.name = "conv " + s.str();
  auto two = [](StringRef name, StringRef one, int64_t first, StringRef other,
                int64_t second) {
    return ("  static constexpr int " + name + one + " = " + Twine(first) +
            ", " + name + other + " = " + Twine(second) + ";")
        .str();
  };
  auto along = [&](StringRef name, const std::array<int64_t, 2> &pair) {
    return two(name, "Y", pair[0], "X", pair[1]);
  };
  form.lines = {"// as the product " + shape.str(),
                "struct Convolution {",
                "  static constexpr int images = " + std::to_string(s.images) +
                    ", groups = " + std::to_string(s.groups) + ";",
                two("", "inputs", s.inputs, "outputs", s.outputs),
                two("input", "Height", s.input[0], "Width", s.input[1]),
                two("output", "Height", s.output(0), "Width", s.output(1)),
                two("window", "Height", s.window[0], "Width", s.window[1]),
                along("stride", s.strides),
                along("low", s.low),
                along("dilation", s.dilations),
                "};"};
  return form;
}

int64_t ConvolutionForm::beyondKernels() const {
  constexpr int64_t mostRows = (int64_t(1) << 31) - 1024,
                    mostPixels = int64_t(1) << 28;
  const ConvolutionSizes &s = convolution;
  GemmShape shape = s.product();
  for (int64_t size : {shape.m, shape.n, shape.k})
    if (size > mostRows)
      return size;
  for (int dim : {0, 1}) {
    int64_t span = (s.window[dim] - 1) * s.dilations[dim] + 1,
            padded = s.input[dim] + s.low[dim] + s.high[dim];
    for (int64_t number : {span, s.strides[dim], s.dilations[dim], padded})
      if (number > mostPixels)
        return number;
  }
  return 0;
}
