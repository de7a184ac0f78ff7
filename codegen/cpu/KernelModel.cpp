//===- KernelModel.cpp - how a kernel becomes code on the CPU -------------===//
#include "codegen/cpu/KernelModel.h"
#include "codegen/cpu/StageEmitter.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mp;
using namespace mp::cpu;

#include "codegen/cpu/KernelModel.cpp.inc"

#define MP_FAMILY(NAME) void register##NAME##Models(DialectRegistry &registry);
namespace mp {
#include "codegen/Families.inc"
}
#undef MP_FAMILY

void mp::registerKernelModels(DialectRegistry &registry) {
#define MP_FAMILY(NAME) register##NAME##Models(registry);
#include "codegen/Families.inc"
#undef MP_FAMILY
}

static Operation *anchorOf(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (isa<AnchorOpInterface>(op))
      return &op;
  return nullptr;
}

/// The stages behind the anchor: all ops that have a body of their own.
static SmallVector<Operation *> epilogueOf(Operation *anchor) {
  SmallVector<Operation *> stages;
  for (Operation *op = anchor->getNextNode(); op; op = op->getNextNode())
    if (op->getNumRegions())
      stages.push_back(op);
  return stages;
}

/// Everything behind `last` moves to a kernel of its own.
static void splitBehind(KernelOp kernel, Operation *last) {
  Value handed = last->getResult(0);
  OpBuilder builder(kernel);
  builder.setInsertionPointAfter(kernel);
  auto rest =
      KernelOp::create(builder, kernel.getLoc(), kernel.getResultTypes(),
                       ValueRange{}, kernel.getPredicate());
  rest->setAttr("ops",
                builder.getStringAttr(
                    "epilogue of " +
                    kernel->getAttrOfType<StringAttr>("ops").getValue()));
  Block &from = kernel.getBody().front(), &to = rest.getBody().emplaceBlock();
  IRMapping mapping;
  mapping.map(handed, to.addArgument(handed.getType(), handed.getLoc()));
  builder.setInsertionPointToEnd(&to);
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    builder.clone(*op, mapping);

  builder.setInsertionPoint(kernel);
  auto first = KernelOp::create(builder, kernel.getLoc(), handed.getType(),
                                kernel.getInputs(), kernel.getPredicate());
  first->setAttr("ops", kernel->getAttr("ops"));
  while (&from.back() != last)
    from.back().erase();
  builder.setInsertionPointToEnd(&from);
  YieldOp::create(builder, kernel.getLoc(), handed);
  first.getBody().takeBody(kernel.getBody());
  rest.getInputsMutable().assign(first.getOutputs());
  kernel.replaceAllUsesWith(rest);
  kernel.erase();
}

void cpu::splitEpilogues(func::FuncOp function, const EmitOptions &options) {
  for (auto kernel : llvm::to_vector(function.getOps<KernelOp>())) {
    Operation *anchor = anchorOf(kernel);
    auto model = dyn_cast_or_null<CpuKernelModel>(anchor);
    if (!model)
      continue;
    auto stages = epilogueOf(anchor);
    unsigned accepted = model.accepts(kernel, options);
    if (accepted < stages.size())
      splitBehind(kernel, accepted ? stages[accepted - 1] : anchor);
  }
}

FailureOr<EmittedKernel> cpu::emitKernel(KernelOp kernel,
                                         const EmitOptions &options,
                                         ObjectCompiler &compiler) {
  Operation *anchor = anchorOf(kernel);
  if (!anchor) {
    // Stages see the flag as one more operand, the last.
    Block &body = kernel.getBody().front();
    if (Value flag = kernel.getPredicate())
      body.addArgument(flag.getType(), flag.getLoc());
    return emitStages(body, bool(kernel.getPredicate()), compiler);
  }
  auto model = dyn_cast<CpuKernelModel>(anchor);
  if (!model)
    return anchor->emitOpError() << "has no kernel on the CPU";
  return model.emit(kernel, options, compiler);
}
