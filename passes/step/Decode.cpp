//===- Decode.cpp - a model of texts, a few tokens at a time --------------===//
#include "dialect/Expression.h"
#include "dialect/Rows.h"
#include "dialect/ops/Attention.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/View.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"
#include "program/Names.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace mp {
#define GEN_PASS_DEF_DECODE
#include "passes/step/Passes.h.inc"
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
// Where the tokens are
//===----------------------------------------------------------------------===//

namespace {
/// Follows the tokens of an argument through a function.
class TokenDims {
public:
  explicit TokenDims(BlockArgument tokens) : tokens(tokens) {
    dims[tokens] = 1;
  }

  /// An error at an op that cannot be computed for some of the tokens.
  LogicalResult run(func::FuncOp function) {
    for (Operation &op : function.getBody().front().without_terminator())
      if (failed(visit(&op)))
        return failure();
    for (auto [i, result] : llvm::enumerate(
             function.getBody().front().getTerminator()->getOperands()))
      if (!isToken(result))
        return function.emitOpError()
               << "returns " << result.getType() << " as result " << i
               << ", which has no dimension for tokens";
    return success();
  }

  bool isToken(Value value) const { return dims.contains(value); }
  int64_t of(Value value) const { return dims.at(value); }
  int64_t count() const { return tensorType(tokens).getDimSize(1); }

  /// The dimension of an operand that has a row for each token, though it does
  /// not depend on the tokens, such as the table of positions.
  std::optional<int64_t> placesOf(Operation *op, unsigned operand) const {
    Value value = op->getOperand(operand);
    if (isToken(value))
      return std::nullopt;
    ArrayRef<int64_t> shape = tensorType(value).getShape();
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (size != count())
        continue;
      auto followed = followRows(op, operand, dim);
      if (followed && isAt(op, *followed))
        return dim;
    }
    return std::nullopt;
  }

private:
  bool isAt(Operation *op, ArrayRef<int64_t> found) const {
    return llvm::all_of(llvm::zip_equal(op->getResults(), found),
                        [&](auto pair) {
                          auto [result, dim] = pair;
                          return isToken(result) && of(result) == dim;
                        });
  }

  LogicalResult visit(Operation *op) {
    if (llvm::none_of(op->getOperands(), [&](Value v) { return isToken(v); }))
      return success();
    if (auto attention = dyn_cast<Attention>(op))
      return visitAttention(attention);
    return visitRows(op, op->getOpOperands());
  }

  LogicalResult visitRows(Operation *op, MutableArrayRef<OpOperand> operands) {
    for (OpOperand &operand : operands) {
      if (!isToken(operand.get()))
        continue;
      auto found =
          followRows(op, operand.getOperandNumber(), of(operand.get()));
      if (!found)
        return op->emitOpError()
               << "computes a token from others: in a model that is decoded, "
                  "only causal attention looks at earlier tokens";
      for (auto [result, dim] : llvm::zip_equal(op->getResults(), *found))
        if (!dims.try_emplace(result, dim).second && of(result) != dim)
          return op->emitOpError() << "has tokens in two dimensions";
    }
    return success();
  }

  LogicalResult visitAttention(Attention op) {
    bool keys = isToken(op.getKey()), values = isToken(op.getValue());
    if (!keys && !values) {
      // The keys are another text's.
      if (op.getCausal() || op.getWindow() || op.getSlopes())
        return op.emitOpError("has keys that are no tokens of the text, so "
                              "that none is earlier or later");
      return visitRows(op, op->getOpOperands().take_front(3));
    }
    if (!op.getCausal() || op.getQueryOffset().value_or(0) != 0)
      return op.emitOpError("looks at later tokens: only causal attention can "
                            "be decoded");
    if (op.getLengths())
      return op.emitOpError("has lengths, which decoding cannot keep");
    for (Value operand : {op.getQuery(), op.getKey(), op.getValue()})
      if (!isToken(operand) || of(operand) != 1)
        return op.emitOpError("has tokens that are not in dimension 1 of "
                              "query, key and value");
    if (op.getMask() && isToken(op.getMask()))
      return op.emitOpError("has a mask that depends on the tokens");
    for (Value result : op->getResults())
      dims[result] = 1;
    return success();
  }

  BlockArgument tokens;
  DenseMap<Value, int64_t> dims;
};

//===----------------------------------------------------------------------===//
// The rewriting
//===----------------------------------------------------------------------===//

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
    SmallVector<Operation *> ops = llvm::map_to_vector(
        block.without_terminator(), [](Operation &op) { return &op; });
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
          llvm::seq<unsigned>(0, op->getNumOperands()), [&](unsigned operand) {
            return isDecoded(op) ? dims.placesOf(op, operand) : std::nullopt;
          }));
    tokens.setType(resized(tokens.getType(), 1, size));
    for (auto [op, places] : llvm::zip_equal(ops, rows))
      if (isDecoded(op))
        rewrite(op, places);
    function.setType(b.getFunctionType(
        block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
    return success();
  }

private:
  bool isDecoded(Operation *op) const {
    return op->getNumResults() && dims.isToken(op->getResult(0));
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
    for (Value result : op->getResults())
      result.setType(resized(result.getType(), dims.of(result), size));
  }

  //===--------------------------------------------------------------------===//
  // What belongs to positions
  //===--------------------------------------------------------------------===//

  /// Returns the rows of a value at the tokens' positions. What elementwise ops
  /// computed for all positions is computed for these.
  Value rowsOf(Value value, int64_t dim) {
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
  int64_t attentions = 0;
};

struct Decode : mp::impl::DecodeBase<Decode> {
  using Base::Base;

  void runOnOperation() override {
    VariableTable variables(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.getName() != kDeriveEntry &&
          failed(decode(function, variables)))
        return signalPassFailure();
  }

private:
  LogicalResult decode(func::FuncOp function, VariableTable &variables) {
    auto text = textOf(function);
    if (failed(text))
      return failure();
    int64_t context = tensorType(*text).getDimSize(1);
    if (tokens < 1 || tokens > context)
      return function.emitOpError()
             << "has texts of " << context << " tokens, and cannot decode "
             << tokens.getValue();
    if (!tensorType(*text).hasStaticShape())
      return function.emitOpError("has a batch: mp-specialize binds it");
    TokenDims dims(*text);
    if (failed(dims.run(function)) ||
        failed(Decoder(function, dims, variables, tokens).run(*text)))
      return failure();
    function->setAttr(kContextAttr,
                      Builder(&getContext()).getI64IntegerAttr(context));
    if (auto kept =
            function->getAttrOfType<DenseI64ArrayAttr>(kArgumentsAttr)) {
      SmallVector<int64_t> places(kept.asArrayRef());
      places.push_back(kAddedArgument);
      function->setAttr(kArgumentsAttr,
                        DenseI64ArrayAttr::get(&getContext(), places));
    }
    return success();
  }

  /// The argument that holds the tokens.
  FailureOr<BlockArgument> textOf(func::FuncOp function) {
    SmallVector<BlockArgument> found;
    for (BlockArgument argument : function.getArguments()) {
      auto type = tensorType(argument);
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                        kNameAttr);
      if (type.getRank() == 2 && type.getElementType().isIntOrIndex() &&
          (input.empty() || (name && name.getValue() == input)))
        found.push_back(argument);
    }
    if (found.size() == 1)
      return found[0];
    return function.emitOpError()
           << "has " << found.size() << " arguments of [batch, tokens] integers"
           << (input.empty() ? "" : " of that name")
           << ", expected one: name it with the option 'input'";
  }
};
} // namespace
