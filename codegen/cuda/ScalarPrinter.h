//===- ScalarPrinter.h - a stage's body as C++ ------------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_SCALARPRINTER_H
#define MP_CODEGEN_CUDA_SCALARPRINTER_H

#include "codegen/cuda/SourceText.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mp::cuda {

/// Returns the C++ type of a scalar in an expression: "float", "f16", "bool",
/// "int". A half is held as its rounded form. Null-terminated; an index is long
/// long.
std::string valueType(mlir::Type type);
/// Returns the type of an element in memory: as above, but a bool is unsigned
/// char.
std::string storageType(mlir::Type type);
/// Bytes of an element in memory.
unsigned storageBytes(mlir::Type type);

/// Prints a constant as an expression, its value in a comment if its text does
/// not show it: "fromBits(0x3f800000u /* 1 */)".
std::string printConstant(mlir::TypedAttr value);

/// Prints ops of arith and math, whose results equal LLVM's wherever LLVM
/// defines them. The text needs prelude.cuh and scalars.cuh.
class ScalarPrinter {
public:
  ScalarPrinter(SourceText &out, NameSource &names) : out(out), names(names) {}

  /// Prints the ops that `wanted`, values of the body of `stage`, depend on;
  /// returns an expression for each that has no side effect and may be
  /// repeated. `arguments` match the block's; unread ones may be empty.
  /// `indices` are expressions for the stage's loops, needed if the body has
  /// linalg.index.
  ///
  /// Fails with a diagnostic at an op that it does not know.
  llvm::FailureOr<llvm::SmallVector<std::string>>
  print(mlir::linalg::GenericOp stage, llvm::ArrayRef<std::string> arguments,
        mlir::ValueRange wanted, llvm::ArrayRef<std::string> indices);

  /// Prints all that the body yields.
  llvm::FailureOr<llvm::SmallVector<std::string>>
  print(mlir::linalg::GenericOp stage, llvm::ArrayRef<std::string> arguments,
        llvm::ArrayRef<std::string> indices);

private:
  SourceText &out;
  NameSource &names;
};

/// Prints `combiner`, an op of two operands, on other operands: an expression.
/// Fails with a diagnostic at an op that it does not know.
llvm::FailureOr<std::string> printCombiner(mlir::Operation *combiner,
                                           llvm::StringRef accumulator,
                                           llvm::StringRef element);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_SCALARPRINTER_H
