//===- Contraction.cpp - matrix products on CUDA --------------------------===//
#include "codegen/cuda/contraction/Contraction.h"
#include "codegen/cuda/contraction/ContractionSource.h"
#include "codegen/cuda/contraction/LibraryCall.h"
#include "passes/analysis/LoopBodies.h"

#include <numeric>

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

//===----------------------------------------------------------------------===//
// Shapes and choice
//===----------------------------------------------------------------------===//

std::optional<ElementType> mp::cuda::elementOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  auto element = parseElementType(name);
  return element == ElementType::I1 ? std::nullopt : element;
}

std::optional<GemmShape> mp::cuda::gemmShapeOf(const ContractionSpec &spec) {
  auto type = elementOf(spec.a);
  bool keepsSums = spec.c.isF32() && (spec.a.isF16() || spec.a.isBF16());
  if (!type || spec.b != spec.a || (spec.c != spec.a && !keepsSums))
    return std::nullopt;
  GemmShape shape;
  shape.type = *type;
  shape.tf32 = spec.tf32 && type == ElementType::F32;
  shape.batch = std::accumulate(spec.batch.begin(), spec.batch.end(),
                                int64_t(1), std::multiplies<>());
  shape.m = spec.m, shape.n = spec.n, shape.k = spec.k;
  shape.transposeA = spec.transposeA, shape.transposeB = spec.transposeB;
  shape.broadcastA = spec.broadcastA && shape.batch > 1;
  shape.broadcastB = spec.broadcastB && shape.batch > 1;
  return shape;
}

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

static EmittedKernel emitCublaslt(const ContractionSpec &spec,
                                  const GemmShape &shape, Operation *anchor,
                                  const Arch &arch) {
  ContractionSpec matrix = spec;
  matrix.m = shape.m;
  LibraryCall call;
  call.routine = "cublaslt.matmul";
  call.flops = spec.flops();
  // NVIDIA's documentation recommends these sizes.
  call.workspace = (arch.capability >= 90 ? 32 : 4) << 20;
  call.attributes = callAttributes(matrix);
  if (shape.batch > 1) {
    call.attributes.emplace_back("batch", shape.batch);
    call.attributes.emplace_back("a_batch_stride",
                                 shape.broadcastA ? 0 : shape.m * shape.k);
    call.attributes.emplace_back("b_batch_stride",
                                 shape.broadcastB ? 0 : shape.k * shape.n);
    call.attributes.emplace_back("c_batch_stride", shape.m * shape.n);
  }
  return emitLibraryCall(anchor, std::move(call), shape.tf32);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

unsigned mp::cuda::acceptedStages(Operation *anchor, StageList stages,
                                  const ContractionSpec &spec,
                                  const EmitOptions &options) {
  auto shape = gemmShapeOf(spec);
  if (shape && isForLibrary(*shape, spec, options))
    return 0;
  return Epilogue::accepts(anchor, stages);
}

FailureOr<EmittedKernel> mp::cuda::emitContraction(Operation *anchor,
                                                   StageList stages,
                                                   const ContractionSpec &spec,
                                                   const EmitOptions &options,
                                                   KernelStore &store) {
  auto shape = gemmShapeOf(spec);
  if (!shape)
    return anchor->emitOpError()
           << "has no kernel on CUDA that multiplies " << spec.a << " and "
           << spec.b << " to " << spec.c;
  if (isForLibrary(*shape, spec, options))
    return emitCublaslt(spec, *shape, anchor, options.arch);
  const TunePlan::Choice *choice =
      options.plan ? options.plan->find(*shape) : nullptr;
  GemmConfig config = choice && choice->config
                          ? *choice->config
                          : chooseGemm(*shape, options.arch);
  auto epilogue = Epilogue::get(anchor, stages);
  if (failed(epilogue))
    return failure();
  ProductForm form = ProductForm::matrices(*shape);
  ContractionSource source(anchor, form, config, *epilogue, store);
  auto emitted = source.emit();
  if (failed(emitted))
    return failure();
  // The product comes first; the other launches add up its parts.
  emitted->launches.front().flops = spec.flops();
  if (options.loopKernels &&
      isLoopBody(anchor->getParentOfType<func::FuncOp>()))
    source.offerToLoops(*emitted, options.arch);
  return emitted;
}
