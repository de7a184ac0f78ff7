//===- Convolution.cpp - convolutions as kernels --------------------------===//
//
// On the CPU: codegen/cpu/convolution/Convolution.h. On CUDA:
// codegen/cuda/convolution/Convolution.h. A convolution by windows of one
// element that takes every place is a matrix product, and has its kernels.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/convolution/Convolution.h"
#include "codegen/cpu/contraction/Product.h"
#include "codegen/cuda/convolution/Convolution.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Convolutions as products
//===----------------------------------------------------------------------===//

static SlidingProduct forwardOf(Conv2dOp op) { return productOf(op); }
static SlidingProduct forwardOf(Conv2dBackwardWeightOp op) {
  return productOf(op);
}
/// Of several residues, none takes every place.
static SlidingProduct forwardOf(Conv2dBackwardInputOp op) {
  return productsOf(op).front();
}

/// Sets the sizes of a product, in terms of the convolution's channels.
static void setSizes(ContractionSpec &spec, Conv2dOp,
                     const SlidingProduct &product, int64_t places) {
  spec.m = places;
  spec.k = product.in;
  spec.n = product.out;
  spec.transposeB = true; // a weight is [out, in]
}
static void setSizes(ContractionSpec &spec, Conv2dBackwardInputOp,
                     const SlidingProduct &product, int64_t places) {
  spec.m = places;
  spec.k = product.in;
  spec.n = product.out;
}
static void setSizes(ContractionSpec &spec, Conv2dBackwardWeightOp,
                     const SlidingProduct &product, int64_t places) {
  spec.m = product.out;
  spec.k = places;
  spec.n = product.in;
  spec.transposeA = true;
}

/// The matrix product that a convolution is, or nothing.
template <typename Op> static std::optional<ContractionSpec> asProduct(Op op) {
  SlidingProduct product = forwardOf(op);
  if (!isPointwise(product))
    return std::nullopt;
  ContractionSpec spec;
  setSizes(spec, op, product,
           product.images * product.rows.places * product.columns.places);
  spec.a = spec.b = elementType(op->getOperand(0));
  spec.c = op.getType().getElementType();
  spec.tf32 = op.getCompute() && isa<FloatTF32Type>(*op.getCompute());
  if (op->getNumOperands() == 3)
    spec.bias = elementType(op->getOperand(2));
  return spec;
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

namespace {
/// The CPU's code for an op: a call of its emitter.
struct OnCpu {
  Operation *op;
  StageList chain;
  unsigned workers;
  cpu::ObjectCompiler &compiler;
  EmittedKernel &kernel;

  static cpu::LayoutTensor in(Value operand) {
    return {tensorType(operand),
            {KernelArgument::Kind::Operand,
             cast<BlockArgument>(operand).getArgNumber()}};
  }
  cpu::LayoutTensor out() const {
    Value last =
        chain.empty() ? op->getResult(0) : Value(chain.back()->getResult(0));
    return {tensorType(last), {KernelArgument::Kind::Result, 0}};
  }

  LogicalResult emit(Conv2dOp conv) {
    cpu::ConvolutionTensors tensors{.source = in(conv.getInput()),
                                    .weight = in(conv.getWeight()),
                                    .result = out(),
                                    .bias = std::nullopt,
                                    .relu = !chain.empty()};
    if (Value bias = conv.getBias())
      tensors.bias = in(bias);
    return cpu::emitConvolution(productOf(conv), tensors, workers, compiler,
                                kernel);
  }
  LogicalResult emit(Conv2dBackwardInputOp conv) {
    cpu::ConvolutionTensors tensors{.source = in(conv.getGradient()),
                                    .weight = in(conv.getWeight()),
                                    .result = out(),
                                    .bias = std::nullopt,
                                    .relu = !chain.empty()};
    for (const SlidingProduct &product : productsOf(conv))
      if (failed(cpu::emitConvolution(product, tensors, workers, compiler,
                                      kernel)))
        return failure();
    return success();
  }
  LogicalResult emit(Conv2dBackwardWeightOp conv) {
    return cpu::emitWeightGradient(productOf(conv), in(conv.getInput()),
                                   in(conv.getGradient()), out(), compiler,
                                   kernel);
  }
};

template <typename Op>
struct CpuModel : cpu::CpuKernelModel::ExternalModel<CpuModel<Op>, Op> {
  unsigned accepts(Operation *op, StageList chain,
                   const cpu::EmitOptions &) const {
    return !isa<Conv2dBackwardWeightOp>(op) && !chain.empty() &&
                   isRelu(chain.front())
               ? 1
               : 0;
  }
  FailureOr<EmittedKernel> emit(Operation *op, StageList chain,
                                const cpu::EmitOptions &options,
                                cpu::ObjectCompiler &compiler) const {
    if (auto spec = asProduct(cast<Op>(op))) {
      spec->relu = !chain.empty();
      return cpu::emitProduct(op, *spec, options, compiler);
    }
    EmittedKernel kernel;
    OnCpu target{op, chain, options.workers, compiler, kernel};
    if (failed(target.emit(cast<Op>(op))))
      return failure();
    return kernel;
  }
};

//===----------------------------------------------------------------------===//
// CUDA
//===----------------------------------------------------------------------===//

template <typename Op>
struct CudaModel : cuda::CudaKernelModel::ExternalModel<CudaModel<Op>, Op> {
  unsigned accepts(Operation *op, StageList stages,
                   const cuda::EmitOptions &options) const {
    return cuda::acceptedByConvolution(op, stages, options);
  }
  FailureOr<EmittedKernel> emit(Operation *op, StageList stages,
                                const cuda::EmitOptions &options,
                                cuda::KernelStore &store) const {
    return cuda::emitConvolution(op, stages, options, store);
  }
};

template <typename... Ops> void attach(MLIRContext *context) {
  (Ops::template attachInterface<CpuModel<Ops>>(*context), ...);
  (Ops::template attachInterface<CudaModel<Ops>>(*context), ...);
}
} // namespace

namespace mp {
void registerConvolutionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attach<Conv2dOp, Conv2dBackwardInputOp, Conv2dBackwardWeightOp>(context);
  });
}
} // namespace mp
