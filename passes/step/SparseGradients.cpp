//===- SparseGradients.cpp - gradients that are rows of tables ------------===//
//
// The gradient of a table that is only gathered from consists of the rows that
// are gathered, and of zeros. The ops that add these rows up are built again on
// a table with a row for each index that a batch uses, so that each of its rows
// has the bits that it has in the whole gradient.
//
//===----------------------------------------------------------------------===//
#include "dialect/UpdateRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/Sort.h"
#include "dialect/ops/View.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/Gradients.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"

namespace mp {
#define GEN_PASS_DEF_SPARSEGRADIENTS
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

namespace {
/// The distinct indices among all that are used, and where each use finds its
/// own among them.
struct UsedRows {
  Value indices; ///< ascending, without repetition; -1 in the places left over
  Value places;  ///< of the uses, in order; their number if there is no row
};
} // namespace

static RankedTensorType numbers(ImplicitLocOpBuilder &b, int64_t count) {
  return RankedTensorType::get({count}, b.getI32Type());
}

/// Splats a number beside i32.
static Value number(ImplicitLocOpBuilder &b, int64_t value) {
  return splat(b, RankedTensorType::get({}, b.getI32Type()), value);
}

/// Returns indices as i32 [count], with `rows` for what is no row.
static Value flatIndices(ImplicitLocOpBuilder &b, Value indices, int64_t rows) {
  Type element = elementType(indices);
  bool isLong = element.isInteger(64) || element.isUnsignedInteger(32);
  Type wide = isLong ? b.getI64Type() : b.getI32Type();
  int64_t count = tensorType(indices).getNumElements();
  Value flat =
      ReshapeOp::create(b, RankedTensorType::get({count}, element), indices);
  flat = castTo(b, flat, wide);
  auto scalar = RankedTensorType::get({}, wide);
  Value end = splat(b, scalar, rows);
  Value isRow = AndOp::create(
      b, CompareOp::create(b, Comparison::ge, flat, splat(b, scalar, 0)),
      CompareOp::create(b, Comparison::lt, flat, end));
  return castTo(b, SelectOp::create(b, isRow, flat, end), b.getI32Type());
}

/// Sorts the indices, so that equal ones are neighbours. The sort is stable,
/// and all sums are of integers, so that nothing depends on an order.
static UsedRows findUsedRows(ImplicitLocOpBuilder &b, Value all, int64_t rows) {
  int64_t count = tensorType(all).getNumElements();
  auto size = b.getI64IntegerAttr(count);
  Value order = ArgsortOp::create(b, all, /*descending=*/false, IntegerAttr());
  Value sorted = GatherOp::create(b, all, order, 0, false);
  Value before =
      SliceOp::create(b, sorted, ArrayRef<int64_t>{0},
                      ArrayRef<int64_t>{count - 1}, DenseI64ArrayAttr());
  before =
      ConcatOp::create(b, ValueRange{splat(b, numbers(b, 1), -1), before}, 0);
  Value isFirst = CompareOp::create(b, Comparison::ne, sorted, before);
  Value place = SubOp::create(
      b, CumsumOp::create(b, castTo(b, isFirst, b.getI32Type()), 0, false),
      number(b, 1));
  // A place that nothing is added to stays 0, which becomes -1.
  Value first = SelectOp::create(
      b, isFirst, AddOp::create(b, sorted, number(b, 1)), number(b, 0));
  Value indices = SubOp::create(
      b, ScatterAddOp::create(b, first, place, Value(), 0, size, false),
      number(b, 1));
  Value places = ScatterAddOp::create(b, place, order, Value(), 0, size, false);
  Value isRow = CompareOp::create(b, Comparison::lt, all, number(b, rows));
  return {indices, SelectOp::create(b, isRow, places, number(b, count))};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// The gradient of one table.
class RowGradient {
public:
  RowGradient(VariableOp parameter, MinimizeOp group, Value whole)
      : parameter(parameter), group(group), whole(whole),
        shape(parameter.getTensorType().getShape()) {}

  /// Finds the additions of rows that the gradient consists of.
  LogicalResult collect() {
    if (shape.empty() || shape.front() >= INT32_MAX)
      return group.emitOpError()
             << "updates rows (sparse), of which @" << parameter.getSymName()
             << ", " << parameter.getTensorType() << ", has none, or 2^31";
    return collect(whole);
  }

  /// Builds the rows that are used, and their indices.
  std::pair<Value, Value> build(ImplicitLocOpBuilder &b) {
    SmallVector<Value> parts;
    for (ScatterAddOp scatter : scatters)
      parts.push_back(flatIndices(b, scatter.getIndices(), shape.front()));
    Value all = parts.size() == 1 ? parts.front()
                                  : Value(ConcatOp::create(b, parts, 0));
    UsedRows used = findUsedRows(b, all, shape.front());
    count = tensorType(all).getNumElements();
    int64_t first = 0;
    for (auto [scatter, part] : llvm::zip_equal(scatters, parts)) {
      int64_t own = tensorType(part).getNumElements();
      Value place = SliceOp::create(b, used.places, ArrayRef(first),
                                    ArrayRef(own), DenseI64ArrayAttr());
      places[scatter] = ReshapeOp::create(
          b, scatter.getIndices().getType().clone(b.getI32Type()), place);
      first += own;
    }
    return {rebuild(b, whole), used.indices};
  }

private:
  LogicalResult collect(Value value) {
    if (!seen.insert(value).second)
      return success();
    Operation *op = value.getDefiningOp();
    if (!op || tensorType(value).getShape() != shape)
      return refuse(value);
    if (auto scatter = dyn_cast<ScatterAddOp>(op)) {
      if (scatter.getDim() != 0)
        return refuse(value);
      if (scatter.getBase() && failed(collect(scatter.getBase())))
        return failure();
      scatters.push_back(scatter);
      return success();
    }
    // These give zero where the gradient is zero.
    if (isa<AddOp>(op))
      return success(succeeded(collect(op->getOperand(0))) &&
                     succeeded(collect(op->getOperand(1))));
    bool isScaled =
        isa<MulOp, DivOp>(op) && tensorType(op->getOperand(1)).getRank() == 0;
    if (isa<CastOp, NegOp>(op) || isScaled)
      return collect(op->getOperand(0));
    return refuse(value);
  }

  LogicalResult refuse(Value value) {
    auto diagnostic = group.emitOpError()
                      << "updates the rows of @" << parameter.getSymName()
                      << " that a batch uses (sparse), but its gradient is "
                         "not made of such rows alone: "
                      << originOf(value) << " gives all of it";
    diagnostic.attachNote(value.getLoc())
        << "here; leave @" << parameter.getSymName()
        << " to a group that is not sparse";
    return diagnostic;
  }

  /// Returns the value with a row for each use in place of one for each row.
  Value rebuild(ImplicitLocOpBuilder &b, Value value) {
    if (Value known = rebuilt.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    b.setLoc(op->getLoc());
    if (auto scatter = dyn_cast<ScatterAddOp>(op)) {
      Value base = scatter.getBase() ? rebuild(b, scatter.getBase()) : Value();
      return rebuilt[value] = ScatterAddOp::create(
                 b, scatter.getUpdates(), places.lookup(scatter), base, 0,
                 base ? IntegerAttr() : b.getI64IntegerAttr(count), false);
    }
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (seen.contains(operand))
        mapping.map(operand, rebuild(b, operand));
    Value result = b.clone(*op, mapping)->getResult(0);
    SmallVector<int64_t> sizes(shape);
    sizes.front() = count;
    result.setType(tensorType(result).clone(sizes));
    return rebuilt[value] = result;
  }

  VariableOp parameter;
  MinimizeOp group;
  Value whole;
  ArrayRef<int64_t> shape;
  SmallVector<ScatterAddOp> scatters;
  DenseSet<Value> seen;
  DenseMap<Operation *, Value> places;
  DenseMap<Value, Value> rebuilt;
  int64_t count = 0; ///< of uses
};

struct SparseGradients : mp::impl::SparseGradientsBase<SparseGradients> {
  using Base::Base;

  void runOnOperation() override {
    for (TrainOp recipe : getOperation().getOps<TrainOp>()) {
      auto groups = recipe.getBody().getOps<MinimizeOp>();
      if (llvm::none_of(groups, [](MinimizeOp group) {
            return isSparse(group.getOptimizer());
          }))
        continue;
      func::FuncOp step = lookupStep(recipe);
      if (!step) {
        recipe.emitOpError()
            << "has no step yet: run mp-autodiff before mp-sparse-gradients";
        return signalPassFailure();
      }
      if (failed(run(recipe, step)))
        return signalPassFailure();
    }
  }

private:
  static LogicalResult run(TrainOp recipe, func::FuncOp step) {
    auto assignment = assignParameters(recipe, step);
    if (failed(assignment))
      return failure();
    VariableTable variables(step->getParentOfType<ModuleOp>());
    for (unsigned i = 0, end = step.getNumResults(); i < end; ++i) {
      auto name = step.getResultAttrOfType<FlatSymbolRefAttr>(i, kGradientAttr);
      MinimizeOp group =
          name ? assignment->lookup(name.getAttr()) : MinimizeOp();
      VariableOp parameter =
          name ? variables.lookup(name.getValue()) : VariableOp();
      if (!group || !parameter || !isSparse(group.getOptimizer()) ||
          rowsOfGradient(step, name.getValue()))
        continue;
      if (failed(checkGroup(group)) ||
          failed(makeSparse(step, i, parameter, group)))
        return failure();
    }
    return success();
  }

  static LogicalResult checkGroup(MinimizeOp group) {
    StringRef what = group.getEma()                  ? "ema"
                     : group.getStochasticRounding() ? "stochastic_rounding"
                                                     : "";
    if (what.empty())
      return success();
    return group.emitOpError()
           << "updates the rows that a batch uses (sparse), but " << what
           << " changes all rows";
  }

  static LogicalResult makeSparse(func::FuncOp step, unsigned result,
                                  VariableOp parameter, MinimizeOp group) {
    Operation *terminator = step.getBody().front().getTerminator();
    Value whole = terminator->getOperand(result);
    RowGradient gradient(parameter, group, whole);
    if (failed(gradient.collect()))
      return failure();
    ImplicitLocOpBuilder b(whole.getLoc(), terminator);
    auto [rows, indices] = gradient.build(b);
    terminator->setOperand(result, rows);
    appendResults(
        step, indices,
        b.getNamedAttr(kGradientRowsAttr, FlatSymbolRefAttr::get(parameter)));
    auto types = llvm::to_vector(terminator->getOperandTypes());
    step.setType(b.getFunctionType(step.getArgumentTypes(), types));
    eraseUnused(whole);
    return success();
  }

  /// Removes what only the whole gradient was made of.
  static void eraseUnused(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !isOpTriviallyDead(op))
      return;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      eraseUnused(operand);
  }
};
} // namespace
