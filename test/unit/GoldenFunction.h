//===- GoldenFunction.h - runs a function of the dialect in a test --------===//
//
// Text of a function in, numbers in, numbers out: the whole path through
// compiler and runtime, as a test of numbers wants it.
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

/// The elements as they lie in memory in `type`, and back.
std::string pack(const Numbers &numbers, ElementType type);
Numbers unpack(const void *bytes, const TensorType &type);

/// Elements of a golden's {"type": ..., "data": [...]}; "inf", "-inf" and "nan"
/// are strings there.
llvm::Expected<Numbers> goldenNumbers(const llvm::json::Object &tensor);
llvm::Expected<TensorType> goldenType(const llvm::json::Object &tensor);
/// Reads MP_GOLDENS_DIR/`name`; an error names the file.
llvm::Expected<llvm::json::Object> readGolden(llvm::StringRef name);

/// A function of a module, compiled and ready.
class GoldenFunction {
public:
  /// `function` may be left out where the module has only one.
  static llvm::Expected<GoldenFunction> compile(llvm::StringRef module,
                                                llvm::StringRef function = "",
                                                Device device = {},
                                                unsigned threads = 1);
  /// One element list an argument, in order; one a result. Lengths must be the
  /// types'.
  llvm::Expected<std::vector<Numbers>>
  operator()(llvm::ArrayRef<Numbers> inputs);

  /// The same with elements as they lie in memory: bits that a double does not
  /// keep, of NaNs.
  llvm::Expected<std::vector<std::string>>
  runBytes(llvm::ArrayRef<std::string> inputs);

  const Entry &entry() const { return executable->entry(); }

private:
  std::unique_ptr<Session> session;
  Executable *executable = nullptr;
};

} // namespace mp

#endif // MP_TEST_UNIT_GOLDENFUNCTION_H
