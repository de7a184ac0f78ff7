//===- PassInsertion.h - passes of one's own in a pipeline ----------------===//
#ifndef MP_PASSES_INSPECT_PASSINSERTION_H
#define MP_PASSES_INSPECT_PASSINSERTION_H

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mp {

/// "after=mp-autodiff:my-pass{by=2}": a pass, and the pass that it runs beside.
struct PassInsertion {
  bool isBefore = false;
  std::string anchor;
  std::string pipeline; ///< in the syntax of mlir-opt's --pass-pipeline
  /// Checks the form alone, and not the names of passes.
  static llvm::Expected<PassInsertion> parse(llvm::StringRef text);
};

/// Adds passes, given as --pass-pipeline takes them, with or without
/// "builtin.module(...)"; a pass over functions needs no "func.func(...)".
/// Returns the first error.
llvm::Error addPasses(llvm::StringRef pipeline, mlir::OpPassManager &manager);

/// The passes of a pipeline in order, and those inserted beside them.
class PassList {
public:
  PassList(mlir::OpPassManager &manager,
           llvm::ArrayRef<std::string> insertions);
  /// Adds a pass, of a function too, which is nested.
  void add(std::unique_ptr<mlir::Pass> pass);
  /// Returns the error of the insertions. With `isPartOfRun`, a pass that is
  /// not here belongs to another pipeline.
  llvm::Error finish(bool isPartOfRun);

private:
  struct Inserted {
    PassInsertion insertion;
    unsigned times = 0;
  };
  void insert(Inserted &inserted);
  void note(const llvm::Twine &text);

  mlir::OpPassManager &manager;
  std::vector<Inserted> inserted;
  std::vector<std::string> names; ///< of all passes so far
  std::string problem;            ///< the first error; empty: none
};

} // namespace mp

#endif // MP_PASSES_INSPECT_PASSINSERTION_H
