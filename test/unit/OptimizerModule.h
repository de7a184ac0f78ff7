//===- OptimizerModule.h - an optimizer's update as functions -------------===//
//
// Returns the expansion of an attribute such as #mp.adam<...> as text of a
// module, so that tests can run it on either target.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_OPTIMIZERMODULE_H
#define MP_TEST_UNIT_OPTIMIZERMODULE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mp {

struct OptimizerModule {
  /// @update (gradient, rate, step, parameter, slots), which returns parameter
  /// and slots; if bounds are stated, also @measure (parameter, slots) and
  /// @bounds (bounds, norm, rate, step).
  std::string text;
  std::vector<double> slots; ///< first value of each
  bool bounded = false;
};

/// `shape` is the parameter's, as in "3x4".
OptimizerModule optimizerModule(llvm::StringRef attribute,
                                llvm::StringRef shape);

} // namespace mp

#endif // MP_TEST_UNIT_OPTIMIZERMODULE_H
