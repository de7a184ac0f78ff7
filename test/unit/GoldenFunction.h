//===- GoldenFunction.h - runs a function of the dialect in a test --------===//
//
// Compiles the text of a function and runs it on numbers: the whole path
// through compiler and runtime, for tests of numbers.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_GOLDENFUNCTION_H
#define MP_TEST_UNIT_GOLDENFUNCTION_H

#include "codegen/Compile.h"
#include "precision/gradients/NumberFunction.h"
#include "llvm/Support/JSON.h"

namespace mp {

using precision::Numbers, precision::pack, precision::unpack;
/// A function of a module, compiled and ready.
using GoldenFunction = precision::NumberFunction;

/// Reads elements of a golden's {"type": ..., "data": [...]}; "inf", "-inf" and
/// "nan" are strings there.
llvm::Expected<Numbers> goldenNumbers(const llvm::json::Object &tensor);
llvm::Expected<TensorType> goldenType(const llvm::json::Object &tensor);
/// Reads MP_GOLDENS_DIR/`name`; an error names the file.
llvm::Expected<llvm::json::Object> readGolden(llvm::StringRef name);

} // namespace mp

#endif // MP_TEST_UNIT_GOLDENFUNCTION_H
