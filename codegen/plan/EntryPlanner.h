//===- EntryPlanner.h - the plan of a function being made -------*- C++ -*-===//
#ifndef MP_CODEGEN_PLAN_ENTRYPLANNER_H
#define MP_CODEGEN_PLAN_ENTRYPLANNER_H

#include "codegen/plan/Aliases.h"
#include "codegen/plan/EntryPlan.h"
#include "codegen/plan/Exchanges.h"
#include "codegen/plan/LoopRound.h"
#include "codegen/stages/StageGrouping.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/State.h"

namespace mp {

/// Plans the ops of a function in their order. A place in the arena is named by
/// its buffer until offsets are known.
class EntryPlanner {
public:
  EntryPlanner(mlir::func::FuncOp function, CodeOf codeOf,
               ProgramBuilder &builder, Backend &backend)
      : function(function), codeOf(codeOf), emitted(codeOf(function)),
        builder(builder), backend(backend),
        aliases(function.getBody().front()) {}

  mlir::FailureOr<Entry> plan();

private:
  uint32_t variableIndex(llvm::StringRef name) const {
    return builder.variables.lookup(name);
  }

  // EntryPlan.cpp: steps.

  /// mp-verify-step has checked steps; this checks any function that is run.
  mlir::LogicalResult findWrites(mlir::Block &block);
  void planOp(mlir::Operation *op);
  /// A read lies in its variable. If it leaves the function, or goes to another
  /// variable, although the variable is written, it is copied first.
  void planRead(ReadOp read);
  void planConstant(ConstantOp constant);
  void planKernel(KernelOp kernel);
  void planCall(KernelOp kernel, const KernelCall &call,
                std::vector<BufferRef> arguments, StepBufferRefs touched);
  void planWrite(WriteOp write);
  void planResults(mlir::Operation *terminator);
  /// Fails if a step reads a buffer before a step has written it: it would find
  /// the bytes of another value.
  mlir::LogicalResult checkReads();
  BufferRef newBuffer(uint64_t bytes, mlir::Operation *op,
                      llvm::StringRef summary);
  void addStep(Step step, StepBufferRefs touched);
  void waitFor(llvm::ArrayRef<Exchanges::Wait> waits);

  // KernelPlaces.cpp: where a kernel's results lie.

  /// Returns the place of the element `offset` of a tensor.
  static BufferRef within(BufferRef tensor, int64_t offset,
                          mlir::RankedTensorType type);
  /// Returns the place of what kernels write in parts: a new one for the first
  /// of them.
  BufferRef placeOf(AssembleOp assemble);
  /// Returns the places of a kernel's results, of which some may be known.
  llvm::SmallVector<BufferRef>
  placesOf(KernelOp kernel,
           const llvm::DenseMap<mlir::Value, BufferRef> &known =
               llvm::DenseMap<mlir::Value, BufferRef>());
  /// Returns the place of a value that is a part of another tensor.
  std::optional<BufferRef> placeInWhole(mlir::Value value);
  /// Returns the place of a kernel's result among those of the loop.
  std::optional<BufferRef> placeInRound(KernelOp kernel, mlir::OpResult result);
  /// Returns the variable that a result may be computed in.
  std::optional<BufferRef> inPlace(KernelOp kernel, mlir::OpResult result);
  /// Returns the buffer of an operand that nothing reads after the kernel, if
  /// the result may be computed in it. `taken` are those of other results.
  std::optional<BufferRef> placeOfOperand(KernelOp kernel,
                                          mlir::OpResult result,
                                          llvm::DenseSet<uint32_t> &taken);
  /// Whether nothing after the kernel reads the variable, and the kernel itself
  /// only where it writes.
  bool isLastReadBy(KernelOp kernel, mlir::OpResult result,
                    llvm::StringRef variable);
  /// Whether a result may replace a buffer that several operands may be.
  bool mayReplace(KernelOp kernel, const BufferRef &ref, unsigned result);
  /// Whether nothing reads what the round before carried on once the kernel has
  /// run, and the kernel only where it writes.
  bool mayReplaceCarried(KernelOp kernel, mlir::OpResult result,
                         mlir::Value before);
  bool allowsInPlace(KernelOp kernel, unsigned operand, unsigned result);
  /// Copies the table of which a kernel replaces rows, unless the result lies
  /// in its place.
  void copyTable(KernelOp kernel, ScatterRowsOp scatter, BufferRef result);

  // LoopPlan.cpp: rounds of loops.

  void planLoop(KernelOp kernel, LoopOp loop);
  /// Places all results of a loop, also those that its kernel does not yield.
  /// Returns the places of the kernel's.
  llvm::SmallVector<BufferRef> placeResults(LoopRound &own, KernelOp kernel);
  /// Lets a carried value that is stacked too lie in a row with those of all
  /// rounds, so that nothing is copied. `outputs` are the kernel's results by
  /// those of the loop, or null, and `known` gets their places.
  void placeInRow(LoopRound &own, unsigned carried, KernelOp kernel,
                  llvm::ArrayRef<mlir::Value> outputs,
                  llvm::DenseMap<mlir::Value, BufferRef> &known);
  /// Inserts launches that prepare for a loop before its step `number`, or
  /// before the loop around it if they prepare for all of its rounds too.
  void insertPreparations(LoopRound &own, KernelOp kernel, size_t number);
  void bindArguments(LoopRound &own, llvm::ArrayRef<BufferRef> operands);
  void planRound(LoopRound &own, mlir::func::FuncOp body);
  void store(LoopRound &own, unsigned result);
  /// Moves what the next round takes to its place. What lies in the place of
  /// another carried value moves by way of a buffer, as that may come first.
  void carry(LoopRound &own);
  void addCopy(BufferRef to, BufferRef from, mlir::Value value);

  mlir::func::FuncOp function;
  CodeOf codeOf;
  llvm::ArrayRef<EmittedKernel> emitted; ///< of the block that is planned
  ProgramBuilder &builder;
  Backend &backend;
  Aliases aliases;
  Entry entry;
  std::vector<StepBufferRefs> stepPlaces;
  Exchanges exchanges;
  LoopRound *round = nullptr; ///< null: outside of loops
  llvm::DenseMap<mlir::Value, BufferRef> refs;
  llvm::DenseMap<mlir::Operation *, BufferRef> assembled;
  llvm::DenseSet<uint32_t> rowsOfLoops; ///< buffers of several values
  llvm::DenseMap<uint32_t, WriteOp> written;
  llvm::DenseSet<mlir::Operation *> stored;
  llvm::StringMap<llvm::SmallVector<ReadOp>> reads; ///< by variable
  size_t body = 0; ///< EmittedKernel::body of the kernel that is planned
  /// The stages of kernels, by EmittedKernel::body.
  llvm::DenseMap<size_t, mlir::FailureOr<StageProgram>> stages;
  unsigned nextKernel = 0;
};

} // namespace mp

#endif // MP_CODEGEN_PLAN_ENTRYPLANNER_H
