//===- LowerKernels.cpp - from ops to scalar stages -----------------------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/View.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/kernels/Decompose.h"
#include "passes/kernels/KernelShape.h"
#include "passes/kernels/MathExpansion.h"

namespace mp {
#define GEN_PASS_DEF_LOWERKERNELS
#include "passes/kernels/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
SmallVector<StageShape> shapesOf(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  std::optional<int64_t> rows = rowsOf(kernel);
  return rows ? *shapeStagesInRows(body, *rows) : shapeStages(body);
}

/// Returns the form in which a kernel stores an element: integers have no sign
/// there.
Type storageType(Type element) {
  return isa<FloatType>(element) ? element : computeType(element);
}

/// Returns a value rounded or extended to the type it is stored in.
Value toStorage(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(b, type, value);
  return arith::ExtFOp::create(b, type, value);
}

/// Lowers the ops of one kernel, stage by stage, into a new body.
class KernelLowering {
public:
  explicit KernelLowering(KernelOp kernel)
      : kernel(kernel), b(kernel.getLoc(), kernel.getContext()) {}

  void run() {
    Block &old = kernel.getBody().front();
    bool anchored = !old.getOps<AnchorOpInterface>().empty();
    auto stages = anchored ? SmallVector<StageShape>() : shapesOf(kernel);
    for (const StageShape &stage : stages)
      shapes[stage.op] = &stage;
    Block &block = kernel.getBody().emplaceBlock();
    b.setInsertionPointToStart(&block);
    for (BlockArgument argument : old.getArguments())
      mapping.map(argument, block.addArgument(anchored ? typeAsIs(argument)
                                                       : argumentType(argument),
                                              argument.getLoc()));
    for (Operation &op : old.without_terminator())
      lower(&op);
    SmallVector<Value> results;
    for (auto [value, result] : llvm::zip_equal(
             old.getTerminator()->getOperands(), kernel.getOutputs())) {
      Value made = mapping.lookup(value);
      RowsAttr layout = RowsAttr::of(result.getType());
      results.push_back(
          layout || RowsAttr::of(made.getType()) ? place(made, layout) : made);
    }
    YieldOp::create(b, kernel.getLoc(), results);
    while (!old.empty())
      old.back().erase();
    old.erase();
  }

private:
  /// Returns the merged type of a block argument, as its first use sees it.
  RankedTensorType argumentType(BlockArgument argument) {
    Type element = storageType(elementType(argument));
    RowsAttr layout =
        RowsAttr::of(kernel.getInputs()[argument.getArgNumber()].getType());
    if (auto sizes = mergedSizes(argument))
      return RankedTensorType::get(*sizes, element, layout);
    if (auto rows = rowsOf(kernel))
      return RankedTensorType::get(sizesIn(*rows, tensorType(argument)),
                                   element, layout);
    return tensorType(argument).clone(element);
  }

  static SmallVector<int64_t> sizesIn(int64_t rows, RankedTensorType type) {
    return {rows, type.getNumElements() / rows};
  }

  /// Adds a stage that stores a value at the places of a layout.
  Value place(Value value, RowsAttr layout) {
    Value empty =
        tensor::EmptyOp::create(b, sizesIn(*rowsOf(kernel), tensorType(value)),
                                elementType(value), layout);
    AffineMap map = b.getMultiDimIdentityMap(2);
    SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, empty.getType(), value, empty, ArrayRef{map, map}, loops,
               [](OpBuilder &nested, Location location, ValueRange arguments) {
                 linalg::YieldOp::create(nested, location, arguments.front());
               })
        .getResult(0);
  }

  /// Returns the type of a block argument beside an anchor, which sees signs.
  static RankedTensorType typeAsIs(BlockArgument argument) {
    auto type = tensorType(argument);
    bool isAnchors = llvm::any_of(argument.getUsers(), [](Operation *user) {
      return isa<AnchorOpInterface>(user);
    });
    return isAnchors ? type : type.clone(storageType(elementType(argument)));
  }

  std::optional<SmallVector<int64_t>> mergedSizes(Value value) {
    for (OpOperand &use : value.getUses()) {
      if (isa<ReshapeOp>(use.getOwner()))
        if (auto sizes = mergedSizes(use.getOwner()->getResult(0)))
          return sizes;
      if (const StageShape *shape = shapes.lookup(use.getOwner())) {
        auto sizes = llvm::map_to_vector(
            shape->operands[use.getOperandNumber()],
            [&](unsigned dim) { return shape->sizes[dim]; });
        if (auto repeated = shape->repeated.find(use.getOperandNumber());
            repeated != shape->repeated.end())
          sizes.front() = repeated->second.count;
        return sizes;
      }
    }
    return std::nullopt;
  }

  void lower(Operation *op) {
    b.setLoc(op->getLoc());
    if (isa<AnchorOpInterface>(op)) {
      b.clone(*op, mapping);
      return;
    }
    if (isa<ReshapeOp>(op) && splats.contains(op->getOperand(0))) {
      splats[op->getResult(0)] = TypedAttr(splats.lookup(op->getOperand(0)));
      return;
    }
    if (isa<ReshapeOp>(op)) {
      mapping.map(op->getResult(0), mapping.lookup(op->getOperand(0)));
      return;
    }
    if (auto constant = dyn_cast<ConstantOp>(op);
        constant && !isStored(op->getResult(0))) {
      splats[op->getResult(0)] = scalarConstant(constant);
      return;
    }
    // After an anchor, shapes stay as they are.
    std::optional<StageShape> asIs;
    const StageShape *shape = shapes.lookup(op);
    if (!shape)
      shape = &asIs.emplace(shapeAsIs(op));
    buildStage(op, *shape);
  }

  /// Whether a constant has to lie in memory: if it leaves the kernel, or if
  /// nothing else would give the number of elements that a stage runs over.
  static bool isStored(Value value) {
    return llvm::any_of(value.getUsers(), [](Operation *user) {
      return isa<YieldOp, ReductionOpInterface, TransposeOp, AnchorOpInterface>(
                 user) ||
             (isa<ReshapeOp>(user) && isStored(user->getResult(0)));
    });
  }

  static TypedAttr scalarConstant(ConstantOp constant) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    auto scalar = elements.getSplatValue<TypedAttr>();
    if (auto integer = dyn_cast<IntegerAttr>(scalar))
      return IntegerAttr::get(storageType(integer.getType()),
                              integer.getValue());
    return scalar;
  }

  AffineMap mapOf(ArrayRef<unsigned> dims, const StageShape &shape) {
    SmallVector<AffineExpr> exprs;
    for (unsigned dim : dims)
      exprs.push_back(b.getAffineDimExpr(dim));
    return AffineMap::get(shape.sizes.size(), 0, exprs, b.getContext());
  }

  /// Returns a tensor for the result; for a reduction it is filled with the
  /// neutral value of the combiner.
  Value destination(Operation *op, Value result, const StageShape &shape) {
    SmallVector<int64_t> sizes;
    for (unsigned dim : shape.result)
      sizes.push_back(shape.sizes[dim]);
    Type element = storageType(elementType(result));
    Value empty = tensor::EmptyOp::create(b, sizes, element);
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    if (!reduction)
      return empty;
    Value neutral = arith::ConstantOp::create(b, reduction.getNeutral(element));
    return linalg::FillOp::create(b, ValueRange{neutral}, ValueRange{empty})
        .getResult(0);
  }

  void buildStage(Operation *op, const StageShape &shape) {
    SmallVector<Value> inputs, destinations;
    SmallVector<AffineMap> maps;
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      if (splats.contains(operand))
        continue;
      inputs.push_back(mapping.lookup(operand));
      AffineMap map = mapOf(shape.operands[number], shape);
      if (auto repeated = shape.repeated.find(number);
          repeated != shape.repeated.end()) {
        auto exprs = llvm::to_vector(map.getResults());
        exprs.front() = repeated->second.row;
        map = AffineMap::get(shape.sizes.size(), 0, exprs, b.getContext());
      }
      maps.push_back(map);
    }
    SmallVector<Type> types;
    for (Value result : op->getResults()) {
      destinations.push_back(destination(op, result, shape));
      types.push_back(destinations.back().getType());
      maps.push_back(mapOf(shape.result, shape));
    }
    SmallVector<utils::IteratorType> iterators;
    for (unsigned dim = 0; dim < shape.sizes.size(); ++dim)
      iterators.push_back(llvm::is_contained(shape.result, dim)
                              ? utils::IteratorType::parallel
                              : utils::IteratorType::reduction);
    auto generic = linalg::GenericOp::create(
        b, types, inputs, destinations, maps, iterators,
        [&](OpBuilder &nested, Location location, ValueRange arguments) {
          ImplicitLocOpBuilder body(location, nested);
          linalg::YieldOp::create(body, buildBody(body, op, shape, arguments));
        });
    for (auto [result, made] :
         llvm::zip_equal(op->getResults(), generic.getResults()))
      mapping.map(result, made);
  }

  /// Builds one element: operands in their compute types, the op, one rounding.
  SmallVector<Value> buildBody(ImplicitLocOpBuilder &body, Operation *op,
                               const StageShape &shape, ValueRange arguments) {
    SmallVector<Value> scalars;
    unsigned next = 0;
    for (Value operand : op->getOperands()) {
      auto splat = splats.find(operand);
      Value scalar =
          splat == splats.end()
              ? Value(arguments[next++])
              : Value(arith::ConstantOp::create(body, splat->second));
      Type element = elementType(operand);
      scalars.push_back(isa<FloatType>(element)
                            ? toStorage(body, scalar, computeType(element))
                            : scalar);
    }
    SmallVector<Value> results;
    if (auto reduction = dyn_cast<ReductionOpInterface>(op))
      results = {reduction.buildCombiner(body, arguments.back(), scalars[0])};
    else if (isa<IotaOp>(op))
      results = {buildIndex(body, shape)};
    else if (auto constant = dyn_cast<ConstantOp>(op))
      results = {arith::ConstantOp::create(body, scalarConstant(constant))};
    else if (auto scalar = dyn_cast<ScalarOpInterface>(op)) {
      if (scalar.takesIndex())
        scalars.push_back(buildPlace(body, shape));
      results = scalar.buildScalars(body, scalars);
    } else
      results = scalars; // a transpose moves elements only
    for (auto [value, result] : llvm::zip_equal(results, op->getResults()))
      value = isa<FloatType>(value.getType())
                  ? toStorage(body, value, elementType(result))
                  : value;
    return results;
  }

  static Value buildIndex(ImplicitLocOpBuilder &body, const StageShape &shape) {
    if (!shape.iotaDim)
      return arith::ConstantOp::create(body, body.getI32IntegerAttr(0));
    Value index = linalg::IndexOp::create(body, *shape.iotaDim);
    return arith::IndexCastOp::create(body, body.getI32Type(), index);
  }

  /// Builds the element's index in a result that has all dimensions, row by
  /// row. Merging dimensions does not change it.
  static Value buildPlace(ImplicitLocOpBuilder &body, const StageShape &shape) {
    bool isShort = llvm::product_of(shape.sizes) <= INT32_MAX;
    Type type = isShort ? body.getI32Type() : body.getI64Type();
    Value place;
    for (auto [dim, size] : llvm::enumerate(shape.sizes)) {
      Value index = arith::IndexCastOp::create(
          body, type, linalg::IndexOp::create(body, dim));
      if (place)
        index = arith::AddIOp::create(
            body, index,
            arith::MulIOp::create(body, place,
                                  arith::ConstantOp::create(
                                      body, body.getIntegerAttr(type, size))));
      place = index;
    }
    return place ? place
                 : Value(arith::ConstantOp::create(
                       body, body.getIntegerAttr(type, 0)));
  }

  KernelOp kernel;
  ImplicitLocOpBuilder b;
  IRMapping mapping;
  DenseMap<Operation *, const StageShape *> shapes;
  DenseMap<Value, TypedAttr> splats;
};

struct LowerKernels : mp::impl::LowerKernelsBase<LowerKernels> {
  using Base::Base;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (isLowered(kernel))
        continue;
      if (failed(check(kernel)))
        return signalPassFailure();
      KernelLowering(kernel).run();
      expandMath(kernel);
    }
  }

private:
  /// Whether no op of the dialect is left. A kernel that only copies has none
  /// before it is lowered either.
  static bool isLowered(KernelOp kernel) {
    Block &body = kernel.getBody().front();
    return !llvm::hasSingleElement(body) &&
           llvm::none_of(body.without_terminator(), [](Operation &op) {
             return isGraphOp(&op) && !isa<AnchorOpInterface>(op);
           });
  }

  /// Fails unless the ops can be stages, as mp-fuse leaves them.
  static LogicalResult check(KernelOp kernel) {
    Block &body = kernel.getBody().front();
    bool anchored = !body.getOps<AnchorOpInterface>().empty();
    if (failed(checkRows(kernel)))
      return failure();
    for (Operation &op : body.without_terminator()) {
      auto constant = dyn_cast<ConstantOp>(op);
      if (constant
              ? !splatValue(constant.getValue())
              : !isa<AnchorOpInterface, ReductionOpInterface, ScalarOpInterface,
                     TransposeOp, ReshapeOp, IotaOp>(op))
        return op.emitOpError() << "is not a stage of a kernel: run mp-fuse "
                                   "before mp-lower-kernels";
      for (Value value : llvm::concat<Value>(llvm::to_vector(op.getOperands()),
                                             llvm::to_vector(op.getResults())))
        if (auto type = dyn_cast<RankedTensorType>(value.getType());
            !type || !type.hasStaticShape())
          return op.emitOpError() << value.getType()
                                  << " has no static shape: run mp-specialize "
                                     "before mp-lower-kernels";
      if (auto reshape = dyn_cast<ReshapeOp>(op);
          reshape && (anchored || !isUnitReshape(reshape)))
        return op.emitOpError() << "does more than add dimensions of one, "
                                   "which no stage does: run mp-fuse before "
                                   "mp-lower-kernels";
      if (auto random = dyn_cast<RandomOpInterface>(op);
          random && (!random.getStream() || random.getKeyMutable().size() < 2))
        return op.emitOpError()
               << "has no " << (random.getStream() ? "key" : "stream")
               << ": run mp-number-streams and mp-random-keys before mp-fuse";
      if (anchored && failed(checkEpilogue(&op)))
        return failure();
    }
    return success();
  }

  /// Fails unless all inputs and results with a layout are in the rows of the
  /// kernel's loops.
  static LogicalResult checkRows(KernelOp kernel) {
    Block &body = kernel.getBody().front();
    auto check = [&](Type type, Value inner) -> LogicalResult {
      RowsAttr rows = RowsAttr::of(type);
      if (!rows || (rows.getCount() == rowsOf(kernel) &&
                    body.getOps<AnchorOpInterface>().empty() &&
                    isWholeInRows(body, rows.getCount(), inner)))
        return success();
      return kernel.emitOpError() << "does not run over the " << rows.getCount()
                                  << " rows of " << type;
    };
    for (auto [input, argument] :
         llvm::zip_equal(kernel.getInputs(), body.getArguments()))
      if (failed(check(input.getType(), argument)))
        return failure();
    for (auto [result, value] : llvm::zip_equal(
             kernel.getOutputs(), body.getTerminator()->getOperands()))
      if (failed(check(result.getType(), value)))
        return failure();
    return success();
  }

  /// Fails if a dimension of size one is broadcast after an anchor: there a
  /// tensor has an element at each place, or the same ones in each row.
  static LogicalResult checkEpilogue(Operation *op) {
    if (isa<AnchorOpInterface, ReductionOpInterface>(op))
      return success();
    for (Value operand : op->getOperands()) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      auto shape = tensorType(op->getResult(0)).getShape(),
           own = tensorType(operand).getShape();
      if (!constant && shape.take_back(own.size()) != own)
        return op->emitOpError()
               << "broadcasts a dimension of one after an anchor: "
               << operand.getType() << " to " << op->getResult(0).getType();
    }
    return success();
  }
};
} // namespace
