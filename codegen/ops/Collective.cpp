//===- Collective.cpp - exchanges between ranks as calls ------------------===//
#include "dialect/ops/Collective.h"
#include "codegen/cpu/KernelModel.h"
#include "codegen/cuda/KernelModel.h"
#include "codegen/cuda/RankReduction.h"
#include "codegen/plan/Describe.h"
#include "dialect/ops/Kernel.h"

using namespace mlir;
using namespace mp;

using Attributes = std::vector<std::pair<std::string, Call::Attribute>>;

/// Returns the arguments of the kernel that the op's operands are.
static SmallVector<KernelArgument> operandsOf(Operation *op) {
  return llvm::map_to_vector(op->getOperands(), [](Value operand) {
    return KernelArgument{KernelArgument::Kind::Operand,
                          cast<BlockArgument>(operand).getArgNumber()};
  });
}

/// Adds the results of the op to the arguments. Every rank gets them, so one
/// that nothing uses has a place too.
static void addResults(Operation *op, EmittedKernel &kernel) {
  for (Value result : op->getResults()) {
    KernelArgument argument{KernelArgument::Kind::Temporary,
                            static_cast<unsigned>(kernel.temporaries.size())};
    for (OpOperand &use : result.getUses())
      if (isa<YieldOp>(use.getOwner()))
        argument = {KernelArgument::Kind::Result, use.getOperandNumber()};
    if (argument.kind == KernelArgument::Kind::Temporary)
      kernel.temporaries.push_back(describeType(tensorType(result)).bytes());
    kernel.call->arguments.push_back(argument);
  }
}

static Attributes tensorsOf(ValueRange inputs) {
  std::vector<int64_t> elements;
  for (Value input : inputs)
    elements.push_back(tensorType(input).getNumElements());
  auto element = describeType(tensorType(inputs.front())).element;
  return {{"type", elementTypeName(element).str()},
          {"elements", std::move(elements)}};
}

template <typename Op> static Attributes reductionOf(Op op) {
  Attributes attributes = tensorsOf(op.getInputs());
  attributes.emplace_back("reduction",
                          stringifyRankReduction(op.getReduction()).str());
  return attributes;
}

static Attributes attributesOf(RankOp) { return {}; }
static Attributes attributesOf(AllReduceOp op) { return reductionOf(op); }
static Attributes attributesOf(ReduceScatterOp op) { return reductionOf(op); }
static Attributes attributesOf(AllGatherOp op) {
  return tensorsOf(op.getInputs());
}
static Attributes attributesOf(BroadcastFromOp op) {
  Attributes attributes = tensorsOf(op.getInputs());
  attributes.emplace_back("root", static_cast<int64_t>(op.getRoot()));
  return attributes;
}

/// Makes the call of an op by the library of a target.
template <typename Op> static EmittedKernel emitCall(StringRef library, Op op) {
  EmittedKernel kernel;
  KernelCall &call = kernel.call.emplace();
  call.routine = (library + "." + op->getName().stripDialect()).str();
  call.attributes = attributesOf(op);
  call.arguments = operandsOf(op);
  addResults(op, kernel);
  if (!isa<RankOp>(op))
    call.wait = (library + ".wait").str();
  return kernel;
}

namespace {
template <typename Op>
struct CpuModel : cpu::CpuKernelModel::ExternalModel<CpuModel<Op>, Op> {
  unsigned accepts(Operation *, StageList, const cpu::EmitOptions &) const {
    return 0;
  }
  FailureOr<EmittedKernel> emit(Operation *op, StageList,
                                const cpu::EmitOptions &,
                                cpu::ObjectCompiler &) const {
    return emitCall("mpi", cast<Op>(op));
  }
};

/// Adds the kernel that reduces what ranks give in their order, as NCCL itself
/// does not.
template <typename Op>
void addReduction(Op op, cuda::KernelStore &store, KernelCall &call) {
  if constexpr (!llvm::is_one_of<Op, AllReduceOp, ReduceScatterOp>::value)
    return;
  else {
    mlir::Type element = tensorType(op.getInputs().front()).getElementType();
    call.kernels.push_back(
        cuda::emitRankReduction(op.getReduction(), element, store));
    call.attributes.emplace_back("kernel", call.kernels.back());
  }
}

template <typename Op>
struct CudaModel : cuda::CudaKernelModel::ExternalModel<CudaModel<Op>, Op> {
  unsigned accepts(Operation *, StageList, const cuda::EmitOptions &) const {
    return 0;
  }
  FailureOr<EmittedKernel> emit(Operation *op, StageList,
                                const cuda::EmitOptions &,
                                cuda::KernelStore &store) const {
    EmittedKernel kernel = emitCall("nccl", cast<Op>(op));
    addReduction(cast<Op>(op), store, *kernel.call);
    return kernel;
  }
};

template <typename... Ops> void attach(MLIRContext *context) {
  (Ops::template attachInterface<CpuModel<Ops>>(*context), ...);
  (Ops::template attachInterface<CudaModel<Ops>>(*context), ...);
}
} // namespace

namespace mp {
void registerCollectiveModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attach<RankOp, AllReduceOp, AllGatherOp, ReduceScatterOp, BroadcastFromOp>(
        context);
  });
}
} // namespace mp
