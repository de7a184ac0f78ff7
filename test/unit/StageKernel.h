//===- StageKernel.h - stage kernels compiled and run for tests -*- C++ -*-===//
#ifndef MP_TEST_UNIT_STAGEKERNEL_H
#define MP_TEST_UNIT_STAGEKERNEL_H

#include "LinkedKernels.h"

#include "codegen/cpu/nest/StageEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/kernels/MathExpansion.h"
#include <cstdlib>
#include <cstring>

namespace mp::cpu {

inline mlir::MLIRContext &testContext() {
  static mlir::MLIRContext *context = [] {
    auto *context = new mlir::MLIRContext;
    context->loadDialect<mlir::linalg::LinalgDialect,
                         mlir::tensor::TensorDialect>();
    ObjectCompiler::prepare(*context);
    return context;
  }();
  return *context;
}

/// A kernel from the text of a function of stages, ready to run.
class StageKernel {
public:
  explicit StageKernel(const std::string &text, bool predicated = false,
                       Target target = Target::host())
      : compiler(std::move(target)),
        module(mlir::parseSourceString<mlir::ModuleOp>(text, &testContext())) {
    EXPECT_TRUE(module) << text;
    mp::expandMath(*module);
    llvm::FailureOr<EmittedKernel> emitted =
        emitStages(body(), predicated, compiler);
    EXPECT_TRUE(llvm::succeeded(emitted));
    if (llvm::succeeded(emitted))
      kernel = std::move(*emitted);
  }

  mlir::Block &body() {
    return (*module->getOps<mlir::func::FuncOp>().begin()).getBody().front();
  }

  /// Runs all launches: their tasks backwards, or each launch as one task.
  void run(std::vector<void *> operands, std::vector<void *> results,
           bool oneTask = false) {
    using Bytes = std::unique_ptr<char, decltype(&std::free)>;
    auto allocate = [](uint64_t bytes) {
      return Bytes(static_cast<char *>(
                       std::aligned_alloc(64, llvm::alignTo(bytes + 1, 64))),
                   &std::free);
    };
    std::vector<Bytes> temporaries;
    for (uint64_t bytes : kernel.temporaries)
      temporaries.push_back(allocate(bytes));
    for (const KernelLaunch &launch : kernel.launches) {
      std::vector<void *> arguments;
      for (const KernelArgument &argument : launch.arguments)
        arguments.push_back(argument.kind == KernelArgument::Kind::Operand
                                ? operands[argument.index]
                            : argument.kind == KernelArgument::Kind::Result
                                ? results[argument.index]
                                : temporaries[argument.index].get());
      Bytes shared = allocate(launch.shared);
      KernelFunction function = linked.function(compiler, launch.symbol);
      int64_t tasks = llvm::divideCeil(launch.grid, launch.block);
      if (oneTask)
        function(arguments.data(), 0, launch.grid, shared.get());
      else
        for (int64_t task = tasks; task-- > 0;)
          function(arguments.data(), task * launch.block,
                   std::min(launch.grid, (task + 1) * launch.block),
                   shared.get());
    }
  }

  std::vector<std::string> undefined() {
    std::vector<std::string> names;
    for (const KernelLaunch &launch : kernel.launches)
      llvm::append_range(names,
                         undefinedSymbols(compiler.object(launch.symbol)));
    return names;
  }

  EmittedKernel kernel;
  ObjectCompiler compiler;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  LinkedKernels linked;
};

/// Replaces each `$name` in `text`.
inline std::string
fill(std::string text,
     std::initializer_list<std::pair<const char *, std::string>> names) {
  for (auto &[name, value] : names)
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, std::strlen(name), value);
  return text;
}

} // namespace mp::cpu

#endif // MP_TEST_UNIT_STAGEKERNEL_H
