//===- Convolution.cpp - convolutions on CUDA -----------------------------===//
#include "codegen/cuda/convolution/Convolution.h"
#include "codegen/cuda/contraction/Contraction.h"
#include "codegen/cuda/convolution/ConvolutionForm.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

unsigned mp::cuda::acceptedByConvolution(Operation *anchor, StageList stages,
                                         const EmitOptions &options) {
  ConvolutionForm convolution(anchor);
  if (convolution.isProduct())
    return acceptedStages(anchor, stages, convolution.product(), options);
  return Epilogue::accepts(anchor, stages, !convolution.wrapsColumns());
}

/// Returns the plan's config for a product of this shape, or else the best,
/// whose tiles with the places of their rows fit into shared memory.
static GemmConfig chooseConfig(const ProductForm &form,
                               const EmitOptions &options) {
  std::vector<GemmConfig> configs =
      gemmCandidates(form.shape, options.arch, 1000);
  if (options.plan)
    if (const TunePlan::Choice *choice = options.plan->find(form.shape))
      if (choice->config)
        configs.insert(configs.begin(), *choice->config);
  for (const GemmConfig &config : configs)
    if (form.sharedBytes(config) <= options.arch.sharedBytes())
      return config;
  llvm_unreachable("the smallest tiles fit");
}

FailureOr<EmittedKernel> mp::cuda::emitConvolution(Operation *anchor,
                                                   StageList stages,
                                                   const EmitOptions &options,
                                                   KernelStore &store) {
  ConvolutionForm convolution(anchor);
  ContractionSpec spec = convolution.product();
  if (convolution.isProduct())
    return emitContraction(anchor, stages, spec, options, store);
  auto shape = gemmShapeOf(spec);
  if (!shape)
    return anchor->emitOpError() << "has no kernel on CUDA that multiplies "
                                 << spec.a << " to " << spec.c;
  if (int64_t size = convolution.beyondKernels())
    return anchor->emitOpError()
           << "has no kernel on CUDA that counts to " << size;
  ProductForm form = convolution.form(*shape);
  auto epilogue = Epilogue::get(anchor, stages, form.across);
  if (failed(epilogue))
    return failure();
  GemmConfig config = convolution.isDepthwise() ? convolution.depthwiseConfig()
                                                : chooseConfig(form, options);
  auto emitted =
      ContractionSource(anchor, form, config, *epilogue, store).emit();
  if (succeeded(emitted))
    emitted->launches.front().flops = convolution.flops();
  return emitted;
}
