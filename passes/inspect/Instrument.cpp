//===- Instrument.cpp - how large the values of a step are ----------------===//
#include "passes/inspect/Instrument.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"
#include "passes/Passes.h"
#include "passes/analysis/BackwardOps.h"
#include "passes/analysis/Recipe.h"
#include "passes/inspect/Records.h"
#include "passes/inspect/StepPhases.h"
#include <limits>

namespace mp {
#define GEN_PASS_DEF_INSTRUMENT
#include "passes/inspect/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

/// "input 'x'"
static std::string nameOfInput(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return "input '" + (name ? name.str() : std::to_string(argument)) + "'";
}

std::string mp::nameOfMaker(Operation *op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return ("variable '" + read.getVariable() + "'").str();
  return op->getName().getStringRef().str();
}

bool mp::isInfiniteConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue())
                           : DenseFPElementsAttr();
  if (!elements)
    return false;
  if (elements.isSplat())
    return !elements.getSplatValue<APFloat>().isFinite();
  return llvm::any_of(elements.getValues<APFloat>(),
                      [](const APFloat &x) { return !x.isFinite(); });
}

namespace {

/// Adds records of every op to a function that has no kernels yet.
class OpRecorder {
public:
  explicit OpRecorder(func::FuncOp function)
      : function(function), body(function.getBody().front()), records(function),
        b(function.getLoc(), body.getTerminator()) {}

  void run() {
    auto ops = llvm::map_to_vector(body.without_terminator(),
                                   [](Operation &op) { return &op; });
    findWatched();
    findBatch();
    findOfInputs();
    for (BlockArgument argument : body.getArguments())
      if (isFloatTensor(argument))
        record(argument, nameOfInput(function, argument.getArgNumber()),
               "input", /*meant=*/false);
    update = findUpdate(body);
    for (Operation *op : ops)
      visit(op, isBackward(op->getLoc()) ? "backward"
                : update.contains(op)    ? "update"
                                         : "forward");
    records.finish();
  }

private:
  void visit(Operation *op, StringRef phase) {
    // A reshape has the same elements under another shape.
    if (isa<ReshapeOp>(op)) {
      if (auto known = numbers.find(op->getOperand(0)); known != numbers.end())
        numbers[op->getResult(0)] = known->second;
      return;
    }
    if (isa<ConstantOp>(op))
      return;
    b.setLoc(op->getLoc());
    for (Value result : op->getResults())
      if (isFloatTensor(result))
        record(result, nameOfResult(op, result),
               isa<ReadOp>(op) ? "variable" : phase, isMeant(op));
  }

  /// "mp.cast of the new 'w.f16'"
  static std::string nameOfResult(Operation *op, Value result) {
    for (Operation *user : result.getUsers())
      if (auto write = dyn_cast<WriteOp>(user); write && !isa<ReadOp>(op))
        return nameOfMaker(op) +
               (" of the new '" + write.getVariable() + "'").str();
    return nameOfMaker(op);
  }

  /// Whether an infinity is intended: the values of window variables were made
  /// by a micro-batch, or by a window before this one; an infinity written as a
  /// constant is meant, and so are the results of its op.
  static bool isMeant(Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      auto variable = lookupVariable(op, read.getVariableAttr());
      return variable && variable.getKind() == StateKind::window;
    }
    return llvm::any_of(op->getOperands(), isInfiniteConstant);
  }

  /// Finds state, and the values that the finite check looks at.
  void findWatched() {
    if (OpOperand *loss = namedResult(function, kLossResult))
      watched.insert(loss->get());
    for (Operation &op : body) {
      if (auto unscale = dyn_cast<UnscaleAndCheckOp>(op))
        watched.insert(unscale.getUnscaled());
      if (auto check = dyn_cast<IsFiniteOp>(op))
        watched.insert(check.getInput());
      if (auto write = dyn_cast<WriteOp>(op))
        watched.insert(write.getValue());
    }
  }

  /// Rows are samples if all inputs have equally many.
  void findBatch() {
    for (Type type : function.getArgumentTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      if (tensor.getRank() == 0 || (batch && batch != tensor.getDimSize(0))) {
        batch = 0;
        return;
      }
      batch = tensor.getDimSize(0);
    }
  }

  /// Finds the values computed from inputs: a weight may have as many rows as a
  /// batch has samples.
  void findOfInputs() {
    ofInputs.insert_range(body.getArguments());
    for (Operation &op : body)
      if (llvm::any_of(op.getOperands(), [&](Value operand) {
            return ofInputs.contains(operand);
          }))
        ofInputs.insert_range(op.getResults());
  }

  void record(Value value, const std::string &name, StringRef phase,
              bool meant) {
    RecordedValue recorded{name, value.getLoc(), phase, tensorType(value)};
    if (Operation *op = value.getDefiningOp())
      for (Value operand : op->getOperands())
        if (auto known = numbers.find(operand); known != numbers.end())
          recorded.operands.push_back(known->second);
    recorded.meant = meant;
    recorded.watched = watched.contains(value);
    int64_t number = numbers[value] = records.add(recorded);
    Value elements = flat(value);
    addFacts(number, elements);
    bool rowsAreRecords = phase == "input" || phase == "forward";
    if (rowsAreRecords && ofInputs.contains(value) && batch &&
        tensorType(value).getRank() > 0 &&
        tensorType(value).getDimSize(0) == batch)
      addRow(number, elements);
  }

  /// Returns the value in one dimension. The ops of a record then give no
  /// kernel more dimensions, so that its dimensions, and the order of its sums,
  /// stay the same.
  Value flat(Value value) {
    auto type = tensorType(value);
    if (type.getRank() <= 1)
      return value;
    return ReshapeOp::create(b, type.clone(type.getNumElements()), value);
  }

  void addFacts(int64_t number, Value value) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    auto type = tensorType(value);
    Type wide = computeType(type.getElementType());
    Value finite = IsFiniteOp::create(b, value);
    Value number64 = castTo(b, value, wide);
    auto among = [&](double otherwise) -> Value {
      return SelectOp::create(b, finite, number64, scalar(wide, otherwise));
    };
    Value bad = SelectOp::create(b, finite, scalar(b.getI32Type(), 0),
                                 scalar(b.getI32Type(), 1));
    records.addFact(number, "nonfinite",
                    SumOp::create(b, bad, allOf(bad), false));
    if (type.getNumElements() == 0)
      return;
    records.addFact(number, "least",
                    MinOp::create(b, among(infinity), allOf(value), false));
    records.addFact(number, "largest",
                    MaxOp::create(b, among(-infinity), allOf(value), false));
  }

  /// Adds the first row with an element that is not finite, if there is one.
  void addRow(int64_t number, Value value) {
    auto type = tensorType(value);
    constexpr int32_t none = std::numeric_limits<int32_t>::max();
    if (type.getNumElements() == 0 || type.getNumElements() > none)
      return;
    Value finite = IsFiniteOp::create(b, value);
    Value places = IotaOp::create(b, type.clone(b.getI32Type()), 0);
    Value bad =
        SelectOp::create(b, finite, scalar(b.getI32Type(), none), places);
    Value first = MinOp::create(b, bad, allOf(bad), false);
    records.addFact(
        number, "row",
        DivOp::create(
            b, first,
            scalar(b.getI32Type(), double(type.getNumElements() / batch))));
  }

  Value scalar(Type element, double value) {
    return splat(b, RankedTensorType::get({}, element), value);
  }
  static SmallVector<int64_t> allOf(Value value) {
    return llvm::to_vector(llvm::seq<int64_t>(tensorType(value).getRank()));
  }

  func::FuncOp function;
  Block &body;
  Records records;
  ImplicitLocOpBuilder b;
  int64_t batch = 0;                ///< rows that are samples; 0: not known
  DenseMap<Value, int64_t> numbers; ///< of the records
  DenseSet<Value> watched;
  DenseSet<Value> ofInputs; ///< the inputs, and the values computed from them
  DenseSet<Operation *> update;
};

struct Instrument : mp::impl::InstrumentBase<Instrument> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.getName() == kDeriveEntry)
      return;
    if (mode != "step" && mode != "all") {
      function.emitError() << "mp-instrument: mode is \"" << mode
                           << "\", expected \"step\" or \"all\"";
      return signalPassFailure();
    }
    if (failed(check(function)))
      return signalPassFailure();
    unsigned own = function.getNumResults();
    if (mode == "step")
      recordKernels(function);
    else
      OpRecorder(function).run();
    if (!replay)
      return;
    dropResults(function, own);
    dropWrites(function);
  }

private:
  LogicalResult check(func::FuncOp function) {
    if (function->hasAttr(kRecordsAttr))
      return function.emitOpError() << "has records already";
    if (!function.getBody().hasOneBlock())
      return function.emitOpError() << "has control flow, whose values are not "
                                       "looked at";
    bool hasKernels = !function.getOps<KernelOp>().empty();
    if (mode == "step" && !hasKernels &&
        !llvm::hasSingleElement(function.getBody().front()))
      return function.emitOpError()
             << "has no kernels: in mode \"step\" mp-instrument comes after "
                "mp-fuse";
    if (mode == "all" && hasKernels)
      return function.emitOpError()
             << "has kernels: in mode \"all\" mp-instrument comes before "
                "mp-fuse";
    return success();
  }

  /// Drops the writes of state, which must not change; window variables are not
  /// part of the state.
  static void dropWrites(func::FuncOp function) {
    for (auto write : llvm::to_vector(function.getOps<WriteOp>())) {
      auto variable = lookupVariable(write, write.getVariableAttr());
      if (variable && variable.getKind() != StateKind::window)
        write.erase();
    }
  }

  /// Drops the first results, before the records.
  static void dropResults(func::FuncOp function, unsigned count) {
    llvm::BitVector dropped(function.getNumResults());
    dropped.set(0, count);
    (void)function.eraseResults(dropped);
    function.getBody().front().getTerminator()->eraseOperands(dropped);
  }
};
} // namespace
