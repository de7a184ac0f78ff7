//===- Backend.h - a target, as the rest of codegen sees it ---------------===//
#ifndef MP_CODEGEN_BACKEND_H
#define MP_CODEGEN_BACKEND_H

#include "codegen/Emit.h"
#include "codegen/stages/Anchor.h"
#include "codegen/stages/StageGroup.h"
#include "dialect/ops/Kernel.h"
#include "program/Compiler.h"

namespace mp {

struct ProgramBuilder;

/// What a step reads and writes, as wholes.
struct StepPlaces {
  llvm::SmallVector<Place> read, written;
};

/// What one target makes of kernels, for one compilation.
class Backend {
public:
  virtual ~Backend() = default;

  /// Fills in what a Program says of its target: `target`, `arch`, `headers`.
  virtual void describe(Program &program) const = 0;

  /// How kernels of stages are split up.
  virtual StageTarget stageTarget() const = 0;

  /// Which of the stages after an anchor its kernel computes as well: a part of
  /// `stages` that needs no stage outside it. Nothing where the target has no
  /// kernel for the anchor.
  virtual std::optional<StageList>
  accepts(const AnchorStages &stages) const = 0;

  /// Emits a kernel whose anchor, if any, is followed by what `accepts` allows
  /// and nothing else. Fails with a diagnostic. Thread-safe.
  virtual llvm::FailureOr<EmittedKernel> emit(KernelOp kernel) = 0;

  /// Copies `bytes` where an i1 is true; its arguments in the launch: to, from,
  /// flag. Nothing where a Copy does it.
  virtual std::optional<KernelLaunch> guardedCopy(uint64_t bytes) = 0;

  /// Code and features of a symbol that an emitted launch names.
  virtual Kernel code(llvm::StringRef symbol) const = 0;

  /// Whether the code of a symbol is used as it is, and not put together with
  /// other code by `finish`.
  virtual bool isFinal(llvm::StringRef symbol) const { return true; }

  /// Last work on the steps of an entry point, one of `places` to each. Memory
  /// is not planned yet: a place in the arena is the number of a buffer, and no
  /// two buffers share any.
  virtual void finish(Entry &entry, llvm::ArrayRef<StepPlaces> places,
                      ProgramBuilder &builder) {}
};

/// The target that the options name. Errors: none of that name, and those
/// above.
llvm::Expected<std::unique_ptr<Backend>>
createBackend(const CompileOptions &options, mlir::MLIRContext &context);

} // namespace mp

#endif // MP_CODEGEN_BACKEND_H
