//===- Units.h - the ops that a search may set low ------------------------===//
#ifndef MP_PRECISION_SEARCH_UNITS_H
#define MP_PRECISION_SEARCH_UNITS_H

#include "precision/compare/Variant.h"
#include "precision/search/Colouring.h"

namespace mp::precision {

/// An op that a policy decides on, or several with the same entry of a list.
struct Unit {
  std::string kind;         ///< "mp.linear"
  std::string entry;        ///< "mp.linear@mlp.mlir:24"
  Location source;          ///< of the first
  std::vector<int64_t> ops; ///< the numbers of its ops

  /// Returns "24:11", or the name of its location if there is no line.
  std::string place() const;
};

struct Units {
  std::vector<Unit> free;
  /// Ops that a list of kinds would include too, and that have to be f32: a
  /// constant that they read would become infinite or zero.
  std::vector<Unit> fixed;

  /// Adds their kinds and names to the problem.
  void describeTo(ColouringProblem &problem) const;
};

/// Finds the units. An op is not a unit if it says itself how it runs, stands
/// in a region with a policy of its own or without autocast, or has no float to
/// cast.
llvm::Expected<Units> findUnits(const Subject &subject, const Setting &setting);

/// Returns the units that ran low under a policy with an explanation.
Colouring colouringOf(const Units &units, const Variant &variant,
                      llvm::StringRef dtype);

/// Returns a policy of that colouring, in the form of its file.
std::string toPolicy(const Units &units, const Colouring &colouring,
                     llvm::StringRef name, llvm::StringRef about,
                     llvm::StringRef dtype);

} // namespace mp::precision

#endif // MP_PRECISION_SEARCH_UNITS_H
