//===- LintFindings.h - findings of mp-lint ---------------------*- C++ -*-===//
#ifndef MP_PASSES_INSPECT_LINTFINDINGS_H
#define MP_PASSES_INSPECT_LINTFINDINGS_H

#include "dialect/Mp.h"
#include "llvm/ADT/BitVector.h"
#include <map>

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

/// Findings of all checks, reported in the order of the text.
class LintFindings {
public:
  struct Finding {
    LintCheck check;
    mlir::Location location;
    std::string text; ///< the fault and its remedy
    llvm::SmallVector<std::pair<mlir::Location, std::string>> notes;
    /// The first time step of a loop that has the fault, and how many more do.
    std::string timeStep = {};
    size_t moreTimeSteps = 0;
  };

  LintFindings();

  /// Disables checks by their names; an unknown one is an error at `op`.
  llvm::LogicalResult disable(mlir::Operation *op,
                              llvm::ArrayRef<std::string> names);
  bool isEnabled(LintCheck check) const { return enabled[unsigned(check)]; }

  /// Remembers which ops stand in `mp.autocast` regions: the regions are gone
  /// when an op is found to cut a gradient.
  void rememberRegions(mlir::ModuleOp module);
  /// Sets a note that findings get from now on.
  void setContext(mlir::Location location, std::string text);
  void add(Finding finding);
  /// Emits the findings as warnings, each once.
  void emit();

private:
  /// Joins a finding to that of an earlier time step of the same loop. Returns
  /// whether there is one.
  bool joinTimeStep(Finding &finding);

  llvm::BitVector enabled;
  /// The location of the region around an op's location.
  llvm::DenseMap<mlir::Attribute, mlir::Location> regions;
  std::optional<std::pair<mlir::Location, std::string>> context;
  std::vector<Finding> findings;
  /// Those of ops of loops, by location, check and text without its numbers.
  std::map<std::tuple<const void *, LintCheck, std::string>, size_t>
      ofTimeSteps;
};

/// Returns a number as diagnostics show it.
std::string numberText(double value);

} // namespace mp

#endif // MP_PASSES_INSPECT_LINTFINDINGS_H
