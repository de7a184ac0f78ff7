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

/// The places that a step reads and writes, as wholes.
struct StepBufferRefs {
  /// What a step is to the exchanges between ranks.
  enum class Exchange { None, Start, Wait };

  llvm::SmallVector<BufferRef> read, written;
  Exchange exchange = Exchange::None;
  bool isLate = false; ///< not before steps that stand before it
};

/// The code generator of one target, for one compilation.
class Backend {
public:
  virtual ~Backend() = default;

  /// Fills in a Program's fields about its target: `target`, `arch`, `headers`.
  virtual void describe(Program &program) const = 0;

  /// Returns the sizes by which kernels of stages are split up.
  virtual StageTarget stageTarget() const = 0;

  /// Returns the stages after an anchor that its kernel computes as well: a
  /// part of `stages` that needs no stage outside it. Returns nothing if the
  /// target has no kernel for the anchor.
  virtual std::optional<StageList>
  accepts(const AnchorStages &stages) const = 0;

  /// Emits a kernel whose anchor, if any, is followed only by stages that
  /// `accepts` allows. Fails with a diagnostic. Thread-safe.
  virtual llvm::FailureOr<EmittedKernel> emit(KernelOp kernel) = 0;

  /// Copies `bytes` if an i1 is true; the arguments of the launch are to, from
  /// and flag. Returns nothing if a Copy does this.
  virtual std::optional<KernelLaunch> guardedCopy(uint64_t bytes) = 0;

  /// Returns code and features of a symbol that an emitted launch names.
  virtual Kernel code(llvm::StringRef symbol) const = 0;

  /// Whether the code of a symbol is used as it is, and not merged with other
  /// code by `finish`.
  virtual bool isFinal(llvm::StringRef symbol) const { return true; }

  /// Finishes the steps of an entry point; `places` has one element for each.
  /// Memory is not planned yet: a place in the arena is the number of a buffer,
  /// and no two buffers share any.
  virtual void finish(Entry &entry, llvm::ArrayRef<StepBufferRefs> refs,
                      ProgramBuilder &builder) {}
};

/// Returns the target that the options name. Errors: an unknown name, and the
/// errors of the target itself.
llvm::Expected<std::unique_ptr<Backend>>
createBackend(const CompileOptions &options, mlir::MLIRContext &context);

} // namespace mp

#endif // MP_CODEGEN_BACKEND_H
