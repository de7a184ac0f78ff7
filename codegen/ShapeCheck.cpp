//===- ShapeCheck.cpp - tensors that fit into memory ----------------------===//
#include "codegen/ShapeCheck.h"
#include "dialect/ops/State.h"
#include "passes/analysis/BatchRows.h"
#include "program/Program.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mp;

/// The bytes of address space that a process has for data, and so a bound for
/// one tensor. This is far above the memory of any machine, and far below the
/// sizes whose sums overflow.
static constexpr int64_t kMostBytes = int64_t(1) << 47;

/// The problem with a tensor whose `?` stands for so many rows; "" without one.
static std::string problemOf(RankedTensorType type, int64_t rows) {
  int64_t bytes = std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size)) {
      if (rows == 0)
        return "has a batch dimension '?', but no batch size is given";
      size = rows;
    }
    if (llvm::MulOverflow(bytes, size, bytes) || bytes > kMostBytes)
      return "is larger than any memory";
  }
  return "";
}

static bool isStorable(Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return parseElementType(name).has_value();
}

static LogicalResult checkType(mlir::Location location, Type type,
                               int64_t rows) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isStorable(tensor.getElementType()))
    return emitError(location)
           << type
           << " cannot be stored, expected a ranked tensor "
              "of f64, f32, f16, bf16, f8E4M3FN, "
              "f8E5M2, i64, i32, ui32, i16, ui16, i8, ui8 or "
              "i1";
  std::string problem = problemOf(tensor, rows);
  if (problem.empty())
    return success();
  return emitError(location) << tensor << " " << problem;
}

LogicalResult mp::checkShapes(ModuleOp module, int64_t batch) {
  BatchRows rows;
  if (failed(rows.run(module)))
    return failure();
  // mp-specialize reports a batch that does not divide.
  auto rowsOf = [&](Value value) {
    auto multiple = rows.of(value);
    return multiple ? multiple->rowsOf(batch).value_or(batch) : batch;
  };
  auto result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto variable = dyn_cast<VariableOp>(op))
      if (failed(checkType(op->getLoc(), variable.getTensorType(), batch)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (failed(checkType(argument.getLoc(), argument.getType(),
                             rowsOf(argument))))
          return WalkResult::interrupt();
    for (Value value : op->getResults())
      if (failed(checkType(op->getLoc(), value.getType(), rowsOf(value))))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mp::checkBatch(func::FuncOp function, int64_t batch) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = tensorType(argument);
    if (type.getRank() && !type.isDynamicDim(0) && type.getDimSize(0) != batch)
      return emitError(argument.getLoc())
             << "argument " << argument.getArgNumber() << " has "
             << type.getDimSize(0)
             << " rows whatever the batch, but a batch of " << batch
             << " is to be compiled: take a batch of " << type.getDimSize(0)
             << ", or write '?' for the batch dimension";
  }
  return success();
}
