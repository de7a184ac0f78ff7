//===- Product.cpp - an anchor that is a matrix product -------------------===//
#include "codegen/cpu/contraction/Product.h"
#include "codegen/plan/Invariants.h"

using namespace mlir;
using namespace mp;

static bool isForOnednn(const ContractionSpec &spec,
                        const cpu::EmitOptions &options) {
  return spec.batch.empty() && ((options.onednnF32 && spec.a.isF32()) ||
                                (options.onednnBf16 && spec.a.isBF16()));
}

/// Returns the rows of the result in a task, by the shape alone: at least 4 M
/// multiplications, so that small products stay whole, and a quarter of the
/// rows up to 256, since every task arranges the whole of B anew.
static int64_t rowsInTask(const ContractionSpec &spec) {
  int64_t enough = llvm::divideCeil(int64_t(1) << 22, spec.n * spec.k);
  int64_t quarter = std::min<int64_t>(spec.m / 4, 256);
  return std::min<int64_t>(spec.m,
                           llvm::alignTo(std::max(enough, quarter), 64));
}

static EmittedKernel emitOnednn(const ContractionSpec &spec) {
  EmittedKernel kernel;
  KernelCall call;
  call.routine = "dnnl.matmul";
  call.attributes = callAttributes(spec);
  call.grid = spec.m;
  call.block = rowsInTask(spec);
  call.flops = spec.flops();
  for (unsigned i = 0; i < (spec.bias ? 3u : 2u); ++i)
    call.arguments.push_back({KernelArgument::Kind::Operand, i});
  call.arguments.push_back({KernelArgument::Kind::Result, 0});
  kernel.call = std::move(call);
  return kernel;
}

/// The emitters count the anchor's operands; the kernel may hold them in
/// another order, or one of them twice.
static unsigned operandOfKernel(Operation *op, unsigned operand) {
  return cast<BlockArgument>(op->getOperand(operand)).getArgNumber();
}

static void renumberOperands(Operation *op, EmittedKernel &kernel) {
  auto renumber = [&](KernelArgument &argument) {
    if (argument.kind == KernelArgument::Kind::Operand)
      argument.index = operandOfKernel(op, argument.index);
  };
  for (KernelLaunch &launch : kernel.launches)
    llvm::for_each(launch.arguments, renumber);
  if (kernel.call)
    llvm::for_each(kernel.call->arguments, renumber);
}

FailureOr<EmittedKernel> cpu::emitProduct(Operation *anchor,
                                          ContractionSpec spec,
                                          const EmitOptions &options,
                                          ObjectCompiler &compiler) {
  spec.keepsB = isInvariant(cast<KernelOp>(anchor->getParentOp()),
                            operandOfKernel(anchor, 1));
  auto emitted = isForOnednn(spec, options)
                     ? FailureOr<EmittedKernel>(emitOnednn(spec))
                     : emitContraction(anchor->getContext(), spec,
                                       options.workers, compiler);
  if (succeeded(emitted))
    renumberOperands(anchor, *emitted);
  return emitted;
}
