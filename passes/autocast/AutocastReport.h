//===- AutocastReport.h - autocast's decisions and reasons ------*- C++ -*-===//
//
// Reports one line for each op, as a remark and, if a file is wanted, as JSON.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_AUTOCAST_AUTOCASTREPORT_H
#define MP_PASSES_AUTOCAST_AUTOCASTREPORT_H

#include "passes/autocast/Policy.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

namespace mp {

class AutocastReport {
public:
  /// Reports that the op runs in `type`, null if its type is not a float, by a
  /// category and for a reason.
  void decide(mlir::Operation *op, Category category, mlir::FloatType type,
              std::string why);
  /// Adds to the reason, once an op is decided.
  void addReason(mlir::Operation *op, llvm::StringRef why);
  /// Reports that the op stays f32, as an operand is a constant that `low`
  /// cannot hold; `loss` tells its rounded value.
  void keepWide(mlir::OpOperand &constant, llvm::StringRef loss,
                mlir::FloatType low);
  /// Reports a cast of an operand to `type`. `isNew`: no op before had the same
  /// value cast to it.
  void cast(mlir::OpOperand &operand, mlir::FloatType type, bool isNew);

  /// Returns the function's part of the file: its ops in order, the number of
  /// casts, and the bytes that these read and write (null if a size is not
  /// known).
  llvm::json::Value json(mlir::func::FuncOp function,
                         llvm::StringRef policy) const;

private:
  struct Cast {
    unsigned operand;
    mlir::Type from, to;
    bool isNew;
    std::optional<int64_t> bytes;
  };
  /// A constant that keeps an op in f32.
  struct Constant {
    unsigned operand;
    std::string why, source;
  };
  struct Entry {
    Category category;
    mlir::FloatType type;
    std::string why;
    std::vector<Cast> casts;
    std::optional<Constant> constant = {};
  };
  llvm::MapVector<mlir::Operation *, Entry> entries;
};

} // namespace mp

#endif // MP_PASSES_AUTOCAST_AUTOCASTREPORT_H
