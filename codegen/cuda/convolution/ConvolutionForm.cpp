//===- ConvolutionForm.cpp - a convolution as a product -------------------===//
#include "codegen/cuda/convolution/ConvolutionForm.h"
#include "dialect/ops/Convolution.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::divideCeil;

namespace {
/// The tensors of a convolution, one of them the op's result.
struct Tensors {
  ConvolutionForm::Kind kind;
  RankedTensorType input, weight, output;
};
} // namespace

static Tensors tensorsOf(Operation *anchor) {
  using Kind = ConvolutionForm::Kind;
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
  kind = tensors.kind;
  images = tensors.input.getDimSize(0);
  for (int dim : {0, 1}) {
    input[dim] = tensors.input.getDimSize(1 + dim);
    output[dim] = tensors.output.getDimSize(1 + dim);
  }
  inputs = tensors.weight.getDimSize(3);
  groups = tensors.input.getDimSize(3) / inputs;
  outputs = tensors.output.getDimSize(3) / groups;
  llvm::TypeSwitch<Operation *>(anchor)
      .Case<Conv2dOp, Conv2dBackwardInputOp, Conv2dBackwardWeightOp>(
          [&](auto op) {
            window = windowOf(op, tensors.weight.getShape().slice(1, 2));
            tf32 = op.getCompute() && isa<FloatTF32Type>(*op.getCompute());
          });
  type = elementType(anchor->getOperand(0));
  resultType = elementType(anchor->getResult(0));
  if (anchor->getNumOperands() > 2)
    bias = elementType(anchor->getOperand(2));
}

bool ConvolutionForm::isProduct() const {
  return groups == 1 && llvm::all_of(window, [](const WindowDim &dim) {
           return dim.size == 1 && dim.stride == 1 && dim.low == 0 &&
                  dim.high == 0;
         });
}

int64_t ConvolutionForm::phases(int dim) const {
  return std::min(window[dim].stride, input[dim]);
}

int64_t ConvolutionForm::tapsOfPhase(int dim) const {
  const WindowDim &along = window[dim];
  return divideCeil(along.size,
                    along.stride / std::gcd(along.stride, along.dilation));
}

ContractionSpec ConvolutionForm::product() const {
  int64_t places = images * output[0] * output[1];
  int64_t elements = window[0].size * window[1].size * inputs;
  ContractionSpec spec;
  spec.a = spec.b = type, spec.c = resultType, spec.bias = bias;
  spec.tf32 = tf32;
  if (!isProduct() && !isDepthwise())
    spec.batch = {groups};
  switch (kind) {
  case Kind::Forward:
    spec.m = places, spec.n = outputs, spec.k = elements;
    spec.transposeB = true;
    break;
  case Kind::BackwardInput:
    spec.m = images;
    spec.k = outputs;
    for (int dim : {0, 1}) {
      spec.m *= divideCeil(input[dim], window[dim].stride);
      spec.k *= tapsOfPhase(dim);
      if (!isProduct())
        spec.batch.push_back(phases(dim));
    }
    spec.n = inputs;
    break;
  case Kind::BackwardWeight:
    spec.m = outputs, spec.n = elements, spec.k = places;
    spec.transposeA = true;
    break;
  }
  if (isDepthwise() && kind == Kind::BackwardWeight)
    spec.m = elements; // of which an element has one output
  if (isDepthwise())
    spec.n = groups;
  return spec;
}

/// A thread has as many neighbouring channels as 16 bytes hold, in four rows.
GemmConfig ConvolutionForm::depthwiseConfig() const {
  ContractionSpec spec = product();
  GemmConfig config;
  config.tileN = std::clamp<int64_t>(llvm::PowerOf2Ceil(groups), 8, 64);
  config.tileK = 1, config.stages = 1, config.warpsM = 1, config.warpsN = 4;
  int64_t channels =
      std::gcd<int64_t>(groups, 128 / type.getIntOrFloatBitWidth());
  int rows = config.threads() / (config.tileN / channels);
  config.tileM = 4 * rows;
  if (kind != Kind::BackwardWeight)
    return config;
  while (config.tileM > rows && config.tileM / 2 >= spec.m)
    config.tileM /= 2;
  // Enough blocks for a device, each with some places.
  int64_t blocks =
      divideCeil(spec.m, config.tileM) * divideCeil(spec.n, config.tileN);
  config.splits = std::clamp<int64_t>(
      std::min<int64_t>(divideCeil(512, blocks), spec.k / 64), 1, 64);
  return config;
}

ProductForm ConvolutionForm::form(const GemmShape &shape) const {
  ProductForm form;
  form.shape = shape;
  form.header = "conv.cuh";
  form.path = pathName(pathOf(shape));
  form.operands = kind == Kind::Forward         ? "ConvolutionForward"
                  : kind == Kind::BackwardInput ? "ConvolutionBackwardInput"
                                                : "ConvolutionBackwardWeight";
  if (isDepthwise()) {
    form.header = "conv-depthwise.cuh";
    form.hasRing = false;
    form.path = wrapsColumns() ? "Places" : "Taps";
    if (wrapsColumns())
      form.operands = "DepthwiseBackwardWeight";
  } else if (!wrapsColumns()) {
    form.hasPlaces = true;
    form.across = groups;
  }
  form.name = "convolution " + shape.str();
  auto two = [](StringRef name, StringRef one, int64_t first, StringRef other,
                int64_t second) {
    return ("  static constexpr int " + name + one + " = " + Twine(first) +
            ", " + name + other + " = " + Twine(second) + ";")
        .str();
  };
  auto along = [&](StringRef name, int64_t WindowDim::*field) {
    return two(name, "Y", window[0].*field, "X", window[1].*field);
  };
  form.lines = {
      "struct Convolution {",
      "  static constexpr int images = " + std::to_string(images) +
          ", groups = " + std::to_string(groups) + ";",
      two("", "inputs", inputs, "outputs", outputs),
      two("input", "Height", input[0], "Width", input[1]),
      two("output", "Height", output[0], "Width", output[1]),
      two("window", "Height", window[0].size, "Width", window[1].size),
      along("stride", &WindowDim::stride),
      along("low", &WindowDim::low),
      along("dilation", &WindowDim::dilation),
      "};"};
  return form;
}

uint64_t ConvolutionForm::flops() const {
  return uint64_t(2) * images * output[0] * output[1] * groups * outputs *
         window[0].size * window[1].size * inputs;
}

int64_t ConvolutionForm::beyondKernels() const {
  constexpr int64_t mostRows = (int64_t(1) << 31) - 1024,
                    mostPixels = int64_t(1) << 28;
  ContractionSpec spec = product();
  for (int64_t size : {spec.m, spec.n, spec.k})
    if (size > mostRows)
      return size;
  for (auto [dim, pixels] : llvm::zip_equal(window, input))
    for (int64_t number :
         {dim.span(), dim.stride, dim.dilation, pixels + dim.low + dim.high})
      if (number > mostPixels)
        return number;
  return 0;
}
