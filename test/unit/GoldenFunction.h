//===- GoldenFunction.h - runs a function of the dialect in a test --------===//
//
// Compiles the text of a function and runs it on numbers: the whole path
// through compiler and runtime, for tests of numbers.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_GOLDENFUNCTION_H
#define MP_TEST_UNIT_GOLDENFUNCTION_H

#include "codegen/Compile.h"
#include "runtime/Session.h"
#include "llvm/Support/JSON.h"

namespace mp {

/// Elements of a tensor, whatever its type; every 16- and 32-bit float and
/// every integer up to 2^53 is exact in a double.
using Numbers = std::vector<double>;

/// Converts elements to their bytes in memory in `type`, and back.
std::string pack(const Numbers &numbers, ElementType type);
Numbers unpack(const void *bytes, const TensorType &type);

/// Reads elements of a golden's {"type": ..., "data": [...]}; "inf", "-inf" and
/// "nan" are strings there.
llvm::Expected<Numbers> goldenNumbers(const llvm::json::Object &tensor);
llvm::Expected<TensorType> goldenType(const llvm::json::Object &tensor);
/// Reads MP_GOLDENS_DIR/`name`; an error names the file.
llvm::Expected<llvm::json::Object> readGolden(llvm::StringRef name);

/// A function of a module, compiled and ready.
class GoldenFunction {
public:
  /// `function` may be omitted if the module has only one.
  static llvm::Expected<GoldenFunction> compile(llvm::StringRef module,
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

} // namespace mp

#endif // MP_TEST_UNIT_GOLDENFUNCTION_H
