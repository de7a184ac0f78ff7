//===- Decode.cpp - a model of texts, a few tokens at a time --------------===//
#include "dialect/Expression.h"
#include "dialect/Rows.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/View.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"
#include "passes/decode/TokenDims.h"
#include "program/Names.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace mp {
#define GEN_PASS_DEF_DECODE
#include "passes/decode/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

using Attention = ScaledDotProductAttentionOp;

static RankedTensorType resized(Type type, int64_t dim, int64_t size) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[dim] = size;
  return tensor.clone(shape);
}

//===----------------------------------------------------------------------===//
// The rewriting
//===----------------------------------------------------------------------===//

namespace {
/// Lets a function compute `size` tokens, from that at `position` on.
class Decoder {
public:
  Decoder(func::FuncOp function, const TokenDims &dims,
          VariableTable &variables, int64_t size)
      : function(function), dims(dims), variables(variables), size(size),
        context(dims.count()),
        b(ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                             &function.getBody().front())) {}

  LogicalResult run(BlockArgument tokens) {
    Block &block = function.getBody().front();
    SmallVector<Operation *> ops = decodedOps();
    auto named = b.getDictionaryAttr(
        b.getNamedAttr(kNameAttr, b.getStringAttr(kPositionInput)));
    unsigned last = function.getNumArguments();
    if (failed(function.insertArgument(last, RankedTensorType::get({}, i32()),
                                       named, function.getLoc())))
      return failure();
    position = Expression(b, function.getArgument(last));
    places = iota({size}, 0) + position;
    // Dimensions are looked up in the types of before.
    SmallVector<SmallVector<std::optional<int64_t>>> rows;
    for (Operation *op : ops)
      rows.push_back(llvm::map_to_vector(
          llvm::seq<unsigned>(0, op->getNumOperands()),
          [&](unsigned operand) { return dims.placesOf(op, operand); }));
    tokens.setType(resized(tokens.getType(), 1, size));
    for (auto [op, places] : llvm::zip_equal(ops, rows))
      rewrite(op, places);
    function.setType(b.getFunctionType(
        block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
    return success();
  }

  /// Whether anything but a first token depends on where a token is.
  bool usesPositions() const { return takesRows; }

private:
  /// The ops that compute tokens. Those inside a loop compute one at a time
  /// already.
  SmallVector<Operation *> decodedOps() {
    SmallVector<Operation *> ops;
    function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (dims.isLoop(op) || llvm::any_of(op->getResults(), [&](Value result) {
            return dims.isToken(result);
          }))
        ops.push_back(op);
      return isa<ScanOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    return ops;
  }
  Type i32() { return b.getI32Type(); }
  Expression iota(ArrayRef<int64_t> shape, int64_t dim) {
    return {b, IotaOp::create(b, RankedTensorType::get(shape, i32()), dim)};
  }
  Expression reshaped(Expression value, ArrayRef<int64_t> shape) {
    return {b, ReshapeOp::create(b, tensorType(value).clone(shape), value)};
  }

  void rewrite(Operation *op, ArrayRef<std::optional<int64_t>> rows) {
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    for (auto [operand, dim] : llvm::enumerate(rows))
      if (dim)
        op->setOperand(operand, rowsOf(op->getOperand(operand), *dim));
    auto attention = dyn_cast<Attention>(op);
    if (attention && dims.isToken(attention.getKey()))
      attend(attention);
    if (auto slice = dyn_cast<SliceOp>(op)) {
      SmallVector<int64_t> sizes(slice.getSizes());
      sizes[dims.of(slice.getResult())] = size;
      slice.setSizes(sizes);
    }
    if (auto pad = dyn_cast<PadOp>(op); pad && dims.isShift(pad))
      shift(pad);
    for (Value result : op->getResults())
      if (dims.isToken(result))
        result.setType(resized(result.getType(), dims.of(result), size));
    if (dims.isLoop(op))
      carry(cast<ScanOp>(op));
  }

  /// The text that is given is the shifted one: of its tokens, the first stands
  /// for the constant that the shift puts before all.
  void shift(PadOp op) {
    auto type = tensorType(op.getInput());
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[dims.of(op.getResult())] = size;
    Expression isFirst = reshaped(places, shape) == 0.0;
    Value first = splat(b, RankedTensorType::get({}, type.getElementType()),
                        op.getValue().convertToDouble());
    op.getInputMutable().assign(
        SelectOp::create(b, isFirst, first, op.getInput()));
    op.setLow(SmallVector<int64_t>(type.getRank(), 0));
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// Lets a loop begin with what it carried after the token before, which
  /// variables keep.
  void carry(ScanOp op) {
    if (op.getLength())
      op.setLength(size);
    Expression isFirst = position == 0.0;
    size_t count = op.getCarried().size();
    for (auto [operand, last] : llvm::zip_equal(
             op.getCarriedMutable(), op->getResults().take_front(count))) {
      auto type = tensorType(last);
      std::string name = (kStateVariable + Twine(states++)).str();
      variables.create(b.getLoc(), name, type, StateKind::window, 0);
      b.setInsertionPoint(op);
      Value before = ReadOp::create(b, type, name);
      operand.set(SelectOp::create(b, isFirst, operand.get(), before));
      b.setInsertionPointAfter(op);
      WriteOp::create(b, name, last, Value());
    }
  }

  //===--------------------------------------------------------------------===//
  // What belongs to positions
  //===--------------------------------------------------------------------===//

  /// Returns the rows of a value at the tokens' positions. What elementwise ops
  /// computed for all positions is computed for these.
  Value rowsOf(Value value, int64_t dim) {
    takesRows = true;
    auto type = resized(value.getType(), dim, size);
    Operation *op = value.getDefiningOp();
    if (auto index = dyn_cast_or_null<IotaOp>(op)) {
      Expression made(b, IotaOp::create(b, type, index.getDim()));
      return static_cast<int64_t>(index.getDim()) == dim ? made + position
                                                         : made;
    }
    if (auto slice = dyn_cast_or_null<SliceOp>(op);
        slice && isFirstRows(slice, dim))
      return rowsOf(slice.getInput(), dim);
    if (auto turned = dyn_cast_or_null<TransposeOp>(op))
      return TransposeOp::create(
          b, rowsOf(turned.getInput(), turned.getPermutation()[dim]),
          turned.getPermutation());
    if (auto found = dyn_cast_or_null<GatherOp>(op);
        found && isOfIndices(found, dim))
      return GatherOp::create(
          b, found.getTable(),
          rowsOf(found.getIndices(),
                 dim - static_cast<int64_t>(found.getDim())),
          found.getDim());
    auto scalar = dyn_cast_or_null<ScalarOpInterface>(op);
    if (!scalar || scalar.takesIndex() || op->getNumResults() != 1)
      return GatherOp::create(b, value, places, dim);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      int64_t rank = tensorType(operand.get()).getRank(),
              own = dim - type.getRank() + rank;
      bool follows =
          own >= 0 && followRows(op, operand.getOperandNumber(), own);
      operands.push_back(follows ? rowsOf(operand.get(), own) : operand.get());
    }
    Operation *copy = b.clone(*op);
    copy->setOperands(operands);
    copy->getResult(0).setType(type);
    return copy->getResult(0);
  }

  /// Whether a dimension of what is found is one of the indices'.
  static bool isOfIndices(GatherOp op, int64_t dim) {
    int64_t first = op.getDim(), rank = op.getIndices().getType().getRank();
    return !op.getBatched() && dim >= first && dim < first + rank;
  }

  /// Whether a slice takes the first rows of a dimension, and all of others.
  static bool isFirstRows(SliceOp slice, int64_t dim) {
    auto from = slice.getInput().getType(), to = slice.getType();
    for (int64_t each = 0; each < to.getRank(); ++each)
      if (slice.getOffsets()[each] != 0 || slice.strideOf(each) != 1 ||
          (each != dim && from.getDimSize(each) != to.getDimSize(each)))
        return false;
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Attention
  //===--------------------------------------------------------------------===//

  /// Replaces the causal bound by a mask: keys and values are those of all
  /// tokens so far.
  void attend(Attention op) {
    takesRows = true;
    op.getKeyMutable().assign(kept(op.getKey(), "key"));
    op.getValueMutable().assign(kept(op.getValue(), "value"));
    ++attentions;
    op.getMaskMutable().assign(maskOf(op));
    Value length = position + size;
    auto lengths =
        RankedTensorType::get({tensorType(op.getKey()).getDimSize(0)}, i32());
    op.getLengthsMutable().assign(BroadcastOp::create(b, lengths, length));
    op.getSlopesMutable().clear();
    op.setCausal(false);
    op.removeWindowAttr();
    op.removeQueryOffsetAttr();
  }

  /// Writes the rows of these tokens into a variable that keeps all of them,
  /// and returns all.
  Value kept(Value rows, StringRef what) {
    auto type = resized(rows.getType(), 1, context);
    std::string name = ("decode." + what + "." + Twine(attentions)).str();
    variables.create(b.getLoc(), name, type, StateKind::window, 0);
    Expression before(b, ReadOp::create(b, type, name));
    Expression row = iota({context, 1, 1}, 0) - position;
    Expression here = row == 0.0;
    if (size > 1) {
      here = (row >= 0.0) & (row < static_cast<double>(size));
      Expression number = max(min(row, static_cast<double>(size - 1)), 0.0);
      rows = GatherOp::create(b, rows, reshaped(number, {context}), 1);
    }
    Value after = SelectOp::create(b, here, rows, before);
    WriteOp::create(b, name, after, Value());
    return after;
  }

  Value maskOf(Attention op) {
    Expression key = iota({1, context}, 1), query = reshaped(places, {size, 1});
    Expression looks = key <= query;
    if (auto window = op.getWindow())
      looks = looks & (key > query - static_cast<double>(*window));
    Expression bias;
    if (Value slopes = op.getSlopes()) {
      Expression each = reshaped(Expression(b, slopes),
                                 {tensorType(slopes).getDimSize(0), 1, 1});
      bias = each * (key - query).to(elementType(slopes));
    }
    if (Value mask = op.getMask()) {
      Expression rows(b, maskRows(mask));
      if (elementType(mask).isInteger(1))
        looks = looks & rows;
      else
        bias = bias ? bias + rows : rows;
    }
    if (!bias)
      return looks;
    return select(looks, bias, -std::numeric_limits<double>::infinity());
  }

  /// The rows of a mask [..., tokens, keys] for these tokens.
  Value maskRows(Value mask) {
    auto type = tensorType(mask);
    int64_t dim = type.getRank() - 2;
    return dim >= 0 && type.getDimSize(dim) == context ? rowsOf(mask, dim)
                                                       : mask;
  }

  func::FuncOp function;
  const TokenDims &dims;
  VariableTable &variables;
  int64_t size, context;
  ImplicitLocOpBuilder b;
  Expression position, places;
  int64_t attentions = 0, states = 0;
  bool takesRows = false;
};

struct Decode : mp::impl::DecodeBase<Decode> {
  using Base::Base;

  void runOnOperation() override {
    VariableTable variables(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.getName() != kDeriveEntry && !isLoopBody(function) &&
          !function->hasAttr(kContextAttr) &&
          (!onlyLoops || hasScans(function)) &&
          failed(decode(function, variables)))
        return signalPassFailure();
  }

private:
  static bool hasScans(func::FuncOp function) {
    return function.walk([](ScanOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  }

  LogicalResult decode(func::FuncOp function, VariableTable &variables) {
    auto text = textOf(function);
    if (failed(text))
      return failure();
    if (!tensorType(*text).hasStaticShape())
      return function.emitOpError("has a batch: mp-specialize binds it");
    TokenDims dims(*text);
    if (failed(dims.run(function)))
      return failure();
    if (onlyLoops && !dims.hasLoops())
      return success();
    if (failed(checkResults(function, dims)))
      return failure();
    int64_t count = dims.count();
    Decoder decoder(function, dims, variables, tokens);
    if (failed(decoder.run(*text)))
      return failure();
    // Without positions, a state is all that is left of earlier tokens.
    bool hasContext = !dims.hasLoops() || decoder.usesPositions();
    int64_t context = hasContext ? count : 0;
    if (tokens < 1 || (context && tokens > context))
      return function.emitOpError()
             << "has texts of " << count << " tokens, and cannot decode "
             << tokens.getValue();
    function.setArgAttr(text->getArgNumber(), kTextAttr,
                        UnitAttr::get(&getContext()));
    addPosition(function, context);
    return success();
  }

  /// Without a recipe, a function returns tokens alone. With one, it returns
  /// its loss, too.
  LogicalResult checkResults(func::FuncOp function, const TokenDims &dims) {
    if (onlyLoops)
      return success();
    for (auto [i, result] : llvm::enumerate(
             function.getBody().front().getTerminator()->getOperands()))
      if (!dims.isToken(result))
        return function.emitOpError()
               << "returns " << result.getType() << " as result " << i
               << ", which has no dimension for tokens";
    return success();
  }

  /// Says what the arguments of a function are, of which the last is new.
  void addPosition(func::FuncOp function, int64_t context) {
    Builder b(&getContext());
    function->setAttr(kContextAttr, b.getI64IntegerAttr(context));
    SmallVector<int64_t> places =
        llvm::to_vector(llvm::seq<int64_t>(0, function.getNumArguments() - 1));
    auto kept = function->getAttrOfType<DenseI64ArrayAttr>(kArgumentsAttr);
    if (kept)
      places.assign(kept.asArrayRef().begin(), kept.asArrayRef().end());
    else if (!onlyLoops)
      return;
    places.push_back(kAddedArgument);
    function->setAttr(kArgumentsAttr, b.getDenseI64ArrayAttr(places));
  }

  /// The argument that holds the tokens: of several, the one that the function
  /// shifts, as the others are what the text is written from. While there is a
  /// recipe, there are its labels, too.
  FailureOr<BlockArgument> textOf(func::FuncOp function) {
    SmallVector<BlockArgument> found, shifted;
    for (BlockArgument argument : function.getArguments()) {
      if (onlyLoops && argument.use_empty())
        continue;
      auto type = tensorType(argument);
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                        kNameAttr);
      if (type.getRank() == 2 && type.getElementType().isIntOrIndex() &&
          (input.empty() || (name && name.getValue() == input)))
        found.push_back(argument);
    }
    if (found.size() > 1)
      llvm::copy_if(found, std::back_inserter(shifted), TokenDims::isShifted);
    if (shifted.size() == 1)
      return shifted[0];
    if (found.size() == 1)
      return found[0];
    return function.emitOpError()
           << "has " << found.size() << " arguments of [batch, tokens] integers"
           << (input.empty() ? "" : " of that name")
           << ", expected one: name it with the option 'input'";
  }
};
} // namespace
