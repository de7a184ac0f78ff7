//===- LintFindings.h - what mp-lint has to say -----------------*- C++ -*-===//
#ifndef MP_PASSES_INSPECT_LINTFINDINGS_H
#define MP_PASSES_INSPECT_LINTFINDINGS_H

#include "dialect/Mp.h"
#include "llvm/ADT/BitVector.h"

namespace mp {

enum class LintCheck {
  UnscaledF16,
  MasterWeight,
  Constant,
  Epsilon,
  SumOverflow,
  ExpOverflow,
  SoftmaxOverflow,
  CutGradient,
};

/// Findings of all checks, told in the order of the text.
class LintFindings {
public:
  struct Finding {
    LintCheck check;
    mlir::Location location;
    std::string text; ///< what is wrong; what to do
    llvm::SmallVector<std::pair<mlir::Location, std::string>> notes;
  };

  LintFindings();

  /// Switches checks off by their names; an unknown one is an error at `op`.
  llvm::LogicalResult disable(mlir::Operation *op,
                              llvm::ArrayRef<std::string> names);
  bool isEnabled(LintCheck check) const { return enabled[unsigned(check)]; }

  /// Remembers which ops stand in `mp.autocast` regions, which are gone by the
  /// time that an op is found to cut a gradient.
  void rememberRegions(mlir::ModuleOp module);
  /// A note that findings get from now on.
  void setContext(mlir::Location location, std::string text);
  void add(Finding finding);
  /// Emits the findings as warnings, each once.
  void emit();

private:
  llvm::BitVector enabled;
  /// From an op's location to that of the region around it.
  llvm::DenseMap<mlir::Attribute, mlir::Location> regions;
  std::optional<std::pair<mlir::Location, std::string>> context;
  std::vector<Finding> findings;
};

/// A number as diagnostics show it.
std::string numberText(double value);

} // namespace mp

#endif // MP_PASSES_INSPECT_LINTFINDINGS_H
