//===- FourLanes.h - values that four lanes share ---------------*- C++ -*-===//
//
// Random words come in fours: the counter is the element's index / 4. If lanes
// are neighbours and the first one's index is a multiple of four, all values
// computed from such a quotient are the same in four lanes in a row, and are
// computed for one of them.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_NEST_FOURLANES_H
#define MP_CODEGEN_CPU_NEST_FOURLANES_H

#include "codegen/cpu/nest/ScalarBody.h"

namespace mp::cpu {

class FourLanes {
public:
  /// `arguments` are the values of the body's block arguments: a scalar is the
  /// same in all lanes.
  FourLanes(llvm::ArrayRef<mlir::Value> arguments, const BodyPoint &point)
      : arguments(arguments), point(point) {}

  /// Whether a value of the body is the same in four lanes in a row, but not in
  /// all lanes.
  bool share(mlir::Value value);
  /// Whether the op divides consecutive integers, from a multiple of four on,
  /// by four.
  bool isQuotient(mlir::Operation *op);

private:
  enum class Kind { Same, Fours, Different };
  Kind kindOf(mlir::Value value);
  Kind findKind(mlir::Value value);
  bool countsFromMultiple(mlir::Value value);

  llvm::ArrayRef<mlir::Value> arguments;
  const BodyPoint &point;
  llvm::DenseMap<mlir::Value, Kind> kinds;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NEST_FOURLANES_H
