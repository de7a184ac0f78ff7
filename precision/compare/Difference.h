//===- Difference.h - how far values are from those in f64 ----------------===//
#ifndef MP_PRECISION_COMPARE_DIFFERENCE_H
#define MP_PRECISION_COMPARE_DIFFERENCE_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>

namespace mp::precision {

struct Tensor {
  TensorType type;
  std::vector<char> bytes;
};
/// The results of a variant, by the names that mp-expose-values gives.
using Values = std::map<std::string, Tensor>;
/// Returns the number of the op in "value.N.R" or "gradient.L.N.R".
int64_t opOf(llvm::StringRef name);

struct Difference {
  /// max |x - reference| / max |reference|, of the elements that are finite in
  /// both; infinite if the reference is zero throughout and x is not.
  double error = 0;
  /// Sums of squares, of the same elements: |x - reference|^2 and
  /// |reference|^2.
  double distance2 = 0, reference2 = 0;
  /// Elements that are infinite or NaN although the reference is finite.
  uint64_t nonFinite = 0;
  /// Elements beyond the tolerance, with those above; and all elements.
  uint64_t beyond = 0, elements = 0;

  /// Returns |x - reference| / |reference| in the Euclidean norm.
  double relativeL2() const;
  /// Keeps the worse of both.
  void add(const Difference &other);
  bool operator==(const Difference &) const = default;
};

/// Compares `x`, divided by `scale`, to the reference.
Difference compare(const Tensor &x, const Tensor &reference, double tolerance,
                   double scale = 1);

/// The differences of an op's values, over all its results.
struct OpDifference {
  std::optional<Difference> value, gradient;
};
/// Compares by the ops' numbers. Gradients are divided by `scale`.
std::map<int64_t, OpDifference> compareAll(const Values &values,
                                           const Values &reference,
                                           double tolerance, double scale);

} // namespace mp::precision

#endif // MP_PRECISION_COMPARE_DIFFERENCE_H
