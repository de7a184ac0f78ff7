//===- OpGoldens.h - the goldens of single ops ----------------------------===//
//
// What test/goldens/cases.py writes, one file a family, read for the tests that
// run them on either target.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_OPGOLDENS_H
#define MP_TEST_UNIT_OPGOLDENS_H

#include "GoldenFunction.h"

namespace mp {

/// Numbers that PyTorch computed, exact in their type.
struct GoldenTensor {
  Numbers numbers;
  TensorType type;
};

/// A function of the dialect and what it must give. Backward, `module` holds
/// @f.gradient, and the result of a null is not compared.
struct OpGolden {
  std::string module, function;
  std::vector<Numbers> inputs;
  std::vector<std::optional<GoldenTensor>> expected;
  double ulps = 0;
  bool atLargest = false; ///< units of the largest element, not of each
};

struct OpGoldenFile {
  std::vector<OpGolden> forward, backward;
};

/// Names of the families that have a file, sorted.
std::vector<std::string> opGoldenFamilies();
/// The goldens of a family; what cannot be read fails the running test.
OpGoldenFile readOpGoldens(llvm::StringRef family);

llvm::Expected<std::vector<Numbers>> runGolden(const OpGolden &golden,
                                               Device device = {});

/// How many units in the last place of its type `ours` is from element `index`,
/// counted there or at the tensor's largest element; infinity where one of them
/// is not finite and the other is something else.
double ulpsApart(double ours, const GoldenTensor &theirs, size_t index,
                 bool atLargest);

} // namespace mp

#endif // MP_TEST_UNIT_OPGOLDENS_H
