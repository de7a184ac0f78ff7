//===- OpGoldens.h - the goldens of single ops ----------------------------===//
//
// Reads the files of test/goldens/cases.py, one for each family, for the tests
// that run them on either target.
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

/// A function of the dialect and its expected results. In backward, `module`
/// holds @f.gradient, and the result of a null is not compared.
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
/// Reads the goldens of a family; a file that cannot be read fails the running
/// test.
OpGoldenFile readOpGoldens(llvm::StringRef family);

llvm::Expected<std::vector<Numbers>> runGolden(const OpGolden &golden,
                                               Device device = {});

/// Returns the distance of `ours` from element `index` in units in the last
/// place of its type, counted there or at the tensor's largest element;
/// infinity if only one of them is finite or both differ otherwise.
double ulpsApart(double ours, const GoldenTensor &theirs, size_t index,
                 bool atLargest);

} // namespace mp

#endif // MP_TEST_UNIT_OPGOLDENS_H
