//===- Units.h - what a search may set low or to f32 ----------------------===//
#ifndef MP_PRECISION_SEARCH_UNITS_H
#define MP_PRECISION_SEARCH_UNITS_H

#include "precision/compare/Variant.h"
#include "precision/search/Colouring.h"

namespace mp::precision {

/// An op that a policy decides on, or several that one entry of a list names.
struct Unit {
  std::string kind;         ///< "mp.linear"
  std::string entry;        ///< "mp.linear@mlp.mlir:24"
  Location source;          ///< of the first
  std::vector<int64_t> ops; ///< their numbers

  /// "24:11", or the name of its location where that has no line.
  std::string place() const;
};

struct Units {
  std::vector<Unit> free;
  /// Ops of which a list of kinds would decide too, and which have to be f32: a
  /// constant that they read would become infinite or zero.
  std::vector<Unit> fixed;

  /// Their kinds and names.
  void describeTo(ColouringProblem &problem) const;
};

/// What says itself how it runs, stands in a region with a policy of its own or
/// without autocast, or has no float to cast, is no unit.
llvm::Expected<Units> findUnits(const Subject &subject, const Setting &setting);

/// The units that ran low under a policy that was explained.
Colouring colouringOf(const Units &units, const Variant &variant,
                      llvm::StringRef dtype);

/// A policy of that colouring, as a file has it.
std::string toPolicy(const Units &units, const Colouring &colouring,
                     llvm::StringRef name, llvm::StringRef about,
                     llvm::StringRef dtype);

} // namespace mp::precision

#endif // MP_PRECISION_SEARCH_UNITS_H
