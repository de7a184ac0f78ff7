//===- StageArguments.h - tensors as kernel arguments ---------------------===//
#ifndef MP_CODEGEN_STAGES_STAGEARGUMENTS_H
#define MP_CODEGEN_STAGES_STAGEARGUMENTS_H

#include "codegen/Emit.h"
#include "codegen/stages/StageGrouping.h"

namespace mp {

/// Tells which operand, result or temporary of a kernel each tensor is.
class StageArguments {
public:
  StageArguments(const StageProgram &program, EmittedKernel &kernel)
      : kernel(kernel) {
    for (auto [i, operand] : llvm::enumerate(program.operands))
      known[operand] = {KernelArgument::Kind::Operand, unsigned(i)};
    for (auto [i, result] : llvm::enumerate(program.results))
      known[result] = {KernelArgument::Kind::Result, unsigned(i)};
  }

  /// A tensor that is neither operand nor result becomes a temporary.
  KernelArgument get(mlir::Value tensor) {
    auto [it, isNew] = known.try_emplace(tensor);
    if (isNew) {
      auto type = mlir::cast<mlir::RankedTensorType>(tensor.getType());
      uint64_t width = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      it->second = {KernelArgument::Kind::Temporary,
                    unsigned(kernel.temporaries.size())};
      kernel.temporaries.push_back(type.getNumElements() * width);
    }
    return it->second;
  }

private:
  EmittedKernel &kernel;
  llvm::DenseMap<mlir::Value, KernelArgument> known;
};

} // namespace mp

#endif // MP_CODEGEN_STAGES_STAGEARGUMENTS_H
