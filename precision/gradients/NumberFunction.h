//===- NumberFunction.h - runs a function of a module on numbers ----------===//
//
// Compiles the text of a function and runs it: the whole path through compiler
// and runtime.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PRECISION_GRADIENTS_NUMBERFUNCTION_H
#define MP_PRECISION_GRADIENTS_NUMBERFUNCTION_H

#include "runtime/Session.h"

namespace mp::precision {

/// Elements of a tensor, whatever its type; every 16- and 32-bit float and
/// every integer up to 2^53 is exact in a double.
using Numbers = std::vector<double>;

/// Converts elements to their bytes in memory in `type`, and back.
std::string pack(const Numbers &numbers, ElementType type);
Numbers unpack(const void *bytes, const TensorType &type);

/// A function of a module, compiled and ready.
class NumberFunction {
public:
  /// `function` may be omitted if the module has only one.
  static llvm::Expected<NumberFunction> compile(llvm::StringRef module,
                                                llvm::StringRef function = "",
                                                Device device = {},
                                                unsigned threads = 1);
  /// Takes one list of elements for each argument, in order, and returns one
  /// for each result. Lengths must be the types'.
  llvm::Expected<std::vector<Numbers>>
  operator()(llvm::ArrayRef<Numbers> inputs);

  /// The same with elements as bytes in memory: for bits of NaNs that a double
  /// does not keep.
  llvm::Expected<std::vector<std::string>>
  runBytes(llvm::ArrayRef<std::string> inputs);

  const Entry &entry() const { return executable->entry(); }

private:
  std::unique_ptr<Session> session;
  Executable *executable = nullptr;
};

} // namespace mp::precision

#endif // MP_PRECISION_GRADIENTS_NUMBERFUNCTION_H
