//===- AutocastReport.h - what autocast decided, and why --------*- C++ -*-===//
//
// One line an op, as a remark and, where a file is asked for, as JSON.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_AUTOCASTREPORT_H
#define MP_PASSES_AUTOCASTREPORT_H

#include "passes/Policy.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

namespace mp {

class AutocastReport {
public:
  /// The op runs in `type`, null where it is no float's, by a category and for
  /// a reason.
  void decide(mlir::Operation *op, Category category, mlir::FloatType type,
              std::string why);
  /// An operand of the op is cast to `type`. `isNew`: no op before had the same
  /// value cast to it.
  void cast(mlir::OpOperand &operand, mlir::FloatType type, bool isNew);

  /// The function's part of the file: its ops in order, the number of casts,
  /// and the bytes that these read and write (null where a size is not known).
  llvm::json::Value json(mlir::func::FuncOp function,
                         llvm::StringRef policy) const;

private:
  struct Cast {
    unsigned operand;
    mlir::Type from, to;
    bool isNew;
    std::optional<int64_t> bytes;
  };
  struct Entry {
    Category category;
    mlir::FloatType type;
    std::string why;
    std::vector<Cast> casts;
  };
  llvm::MapVector<mlir::Operation *, Entry> entries;
};

} // namespace mp

#endif // MP_PASSES_AUTOCASTREPORT_H
