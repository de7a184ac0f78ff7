//===- PassInsertion.h - passes of one's own in a pipeline ----------------===//
#ifndef MP_PASSES_INSPECT_PASSINSERTION_H
#define MP_PASSES_INSPECT_PASSINSERTION_H

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mp {

/// "after=mp-autodiff:my-pass{by=2}": what runs beside which pass.
struct PassInsertion {
  bool isBefore = false;
  std::string anchor;
  std::string pipeline; ///< as mlir-opt's --pass-pipeline
  /// Looks at the form alone, and not at the names of passes.
  static llvm::Expected<PassInsertion> parse(llvm::StringRef text);
};

/// The passes of a pipeline in order, and those inserted beside them.
class PassList {
public:
  PassList(mlir::OpPassManager &manager,
           llvm::ArrayRef<std::string> insertions);
  /// Also of a function, which is nested.
  void add(std::unique_ptr<mlir::Pass> pass);
  /// What was wrong with the insertions. With `isPartOfRun`, a pass that is not
  /// here is one of another pipeline.
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
  std::string problem;            ///< the first; empty: none
};

} // namespace mp

#endif // MP_PASSES_INSPECT_PASSINSERTION_H
