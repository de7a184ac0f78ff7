//===- Convolution.cpp - convolutions on CUDA -----------------------------===//
#include "codegen/cuda/convolution/Convolution.h"
#include "codegen/cuda/contraction/Contraction.h"
#include "codegen/cuda/contraction/LibraryCall.h"
#include "codegen/cuda/convolution/ConvolutionForm.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

unsigned mp::cuda::acceptedByConvolution(Operation *anchor, StageList stages,
                                         const EmitOptions &options) {
  ConvolutionForm convolution(anchor);
  const ConvolutionSizes &sizes = convolution.sizes();
  if (sizes.isProduct())
    return acceptedStages(anchor, stages, convolution.product(), options);
  if (isForLibrary(sizes, convolution.product(), options))
    return 0;
  return Epilogue::accepts(anchor, stages, !sizes.wrapsColumns());
}

/// Returns the plan's config for a convolution or for a product of this shape,
/// or else the best, whose tiles with the places of their rows fit into shared
/// memory.
static GemmConfig chooseConfig(const ConvolutionSizes &sizes,
                               const EmitOptions &options) {
  if (options.plan)
    for (const TunedShape &shape :
         {TunedShape(sizes), TunedShape(sizes.product())})
      if (const TunePlan::Choice *choice = options.plan->find(shape))
        if (choice->config &&
            whyNot(sizes, *choice->config, options.arch).empty())
          return *choice->config;
  return sizes.candidates(options.arch, 1).front();
}

//===----------------------------------------------------------------------===//
// cuDNN
//===----------------------------------------------------------------------===//

/// The most that an engine of cuDNN may use. Most need little; those that lay
/// tensors out anew need as much as the tensors have.
static constexpr uint64_t kCudnnWorkspace = 64 << 20;

static EmittedKernel emitCudnn(const ConvolutionSizes &sizes,
                               Operation *anchor) {
  auto list = [](const std::array<int64_t, 2> &pair) {
    return std::vector<int64_t>(pair.begin(), pair.end());
  };
  bool bias = anchor->getNumOperands() > 2;
  LibraryCall call;
  call.routine = "cudnn.conv2d";
  call.flops = sizes.flops();
  call.workspace = kCudnnWorkspace;
  call.attributes = {{"kind", sizes.kindName().str()},
                     {"input", sizes.inputSizes()},
                     {"weight", sizes.weightSizes()},
                     {"output", sizes.outputSizes()},
                     {"strides", list(sizes.strides)},
                     {"low", list(sizes.low)},
                     {"high", list(sizes.high)},
                     {"dilations", list(sizes.dilations)},
                     {"type", elementTypeName(sizes.type).str()},
                     {"bias", int64_t(bias)}};
  return emitLibraryCall(anchor, std::move(call), sizes.tf32);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

FailureOr<EmittedKernel> mp::cuda::emitConvolution(Operation *anchor,
                                                   StageList stages,
                                                   const EmitOptions &options,
                                                   KernelStore &store) {
  ConvolutionForm convolution(anchor);
  const ConvolutionSizes &sizes = convolution.sizes();
  ContractionSpec spec = convolution.product();
  if (sizes.isProduct())
    return emitContraction(anchor, stages, spec, options, store);
  auto shape = gemmShapeOf(spec);
  if (!shape)
    return anchor->emitOpError() << "has no kernel on CUDA that multiplies "
                                 << spec.a << " to " << spec.c;
  if (isForLibrary(sizes, spec, options))
    return emitCudnn(sizes, anchor);
  if (int64_t size = convolution.beyondKernels())
    return anchor->emitOpError()
           << "has no kernel on CUDA that counts to " << size;
  ProductForm form = convolution.form(*shape);
  auto epilogue = Epilogue::get(anchor, stages, form.across);
  if (failed(epilogue))
    return failure();
  GemmConfig config = chooseConfig(sizes, options);
  auto emitted =
      ContractionSource(anchor, form, config, *epilogue, store).emit();
  if (succeeded(emitted))
    emitted->launches.front().flops = sizes.flops();
  return emitted;
}
