//===- Attention.cpp - attention ------------------------------------------===//
#include "dialect/ops/Attention.h"
#include "dialect/ContractionRules.h"
#include "dialect/Expression.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Linear.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Random.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

using Where = std::optional<Location>;
using Types = SmallVectorImpl<Type>;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of an attention; those of the batch may be "?".
struct AttentionSizes {
  int64_t batch, tokens, heads, depth; ///< of the query
  int64_t keys, groups, width;         ///< of key and value
};
} // namespace

/// Checks that a tensor has four dimensions, of which those from `sized` on are
/// not empty.
static LogicalResult checkHeads(Where location, StringRef name,
                                RankedTensorType type,
                                ArrayRef<unsigned> sized) {
  if (type.getRank() != 4)
    return emitOptionalError(location, name,
                             " is not [batch, tokens, heads, depth]: ", type);
  for (unsigned dim : sized)
    if (type.getDimSize(dim) == 0)
      return emitOptionalError(location, name, " has no element in dimension ",
                               dim, ": ", type);
  return success();
}

/// Checks query, key and value.
template <typename Adaptor>
static FailureOr<AttentionSizes> sizesOf(Where location, Adaptor adaptor) {
  auto query = tensorType(adaptor.getQuery()),
       key = tensorType(adaptor.getKey()),
       value = tensorType(adaptor.getValue());
  if (failed(checkHeads(location, "query", query, {3})) ||
      failed(checkHeads(location, "key", key, {1, 2})) ||
      failed(checkHeads(location, "value", value, {3})))
    return failure();
  for (auto [name, type] : {std::pair("key", key), std::pair("value", value)}) {
    if (type.getElementType() != query.getElementType())
      return emitOptionalError(location, "element types of query and ", name,
                               " differ: ", query.getElementType(), " vs ",
                               type.getElementType());
    if (type.getDimSize(0) != query.getDimSize(0))
      return emitOptionalError(location, "batch sizes of query and ", name,
                               " differ: ", sizeText(query.getDimSize(0)),
                               " vs ", sizeText(type.getDimSize(0)));
  }
  if (key.getShape().take_front(3) != value.getShape().take_front(3))
    return emitOptionalError(location,
                             "key and value differ in keys or "
                             "groups: ",
                             key, " vs ", value);
  if (key.getDimSize(3) != query.getDimSize(3))
    return emitOptionalError(location, "depths of query and key differ: ",
                             query.getDimSize(3), " vs ", key.getDimSize(3));
  if (query.getDimSize(2) % key.getDimSize(2))
    return emitOptionalError(location, query.getDimSize(2),
                             " heads are not a multiple of ", key.getDimSize(2),
                             " groups");
  return AttentionSizes{query.getDimSize(0), query.getDimSize(1),
                        query.getDimSize(2), query.getDimSize(3),
                        key.getDimSize(1),   key.getDimSize(2),
                        value.getDimSize(3)};
}

/// The type of numbers per query.
static RankedTensorType statisticType(Value query) {
  auto type = tensorType(query);
  return RankedTensorType::get(type.getShape().drop_back(),
                               computeType(type.getElementType()));
}

static LogicalResult checkMask(Where location, Value mask,
                               const AttentionSizes &sizes) {
  if (!mask)
    return success();
  SmallVector<int64_t> scores{sizes.batch, sizes.heads, sizes.tokens,
                              sizes.keys};
  auto shape = broadcastShapes(tensorType(mask).getShape(), scores);
  if (shape && ArrayRef(*shape) == ArrayRef(scores))
    return success();
  std::string wanted = llvm::join(
      llvm::map_range(scores, [](int64_t size) { return sizeText(size); }),
      "x");
  return emitOptionalError(location, "mask ", mask.getType(),
                           " does not broadcast to ", wanted,
                           " (batch, heads, tokens, keys)");
}

/// Checks an operand, which may be null, that has one number for each of
/// `count`.
static LogicalResult checkVector(Where location, StringRef name, Value operand,
                                 StringRef of, int64_t count) {
  if (!operand)
    return success();
  auto type = tensorType(operand);
  if (type.getRank() == 1 && type.getDimSize(0) == count)
    return success();
  return emitOptionalError(location, name, " ", type,
                           " is not one number for each ", of, ": ",
                           sizeText(count));
}

/// Kernels have a place, a window and an offset in a sum of i32.
static constexpr int64_t kFarthest = int64_t(1) << 29;

static LogicalResult checkNumber(Where location, StringRef name,
                                 std::optional<int64_t> number, int64_t least) {
  if (!number || (*number >= least && *number <= kFarthest))
    return success();
  return emitOptionalError(location, name, " is ", *number,
                           ", expected a number from ", least, " to ",
                           kFarthest);
}

static LogicalResult checkScale(Where location, std::optional<APFloat> scale) {
  if (!scale || scale->isFinite())
    return success();
  return emitOptionalError(location, "scale is ", scale->convertToDouble(),
                           ", expected a finite number");
}

static LogicalResult checkDropout(Where location, Value key,
                                  std::optional<APFloat> p) {
  if (!key && !p)
    return success();
  if (!key)
    return emitOptionalError(location, "dropout_p needs a dropout key");
  if (!p)
    return emitOptionalError(location, "a dropout key needs dropout_p");
  double number = p->convertToDouble();
  if (number >= 0 && number <= 1)
    return success();
  return emitOptionalError(location, "dropout_p is ", number,
                           ", expected 0 to 1");
}

template <typename Adaptor>
static FailureOr<AttentionSizes> checkAttention(Where location,
                                                Adaptor adaptor) {
  auto sizes = sizesOf(location, adaptor);
  if (failed(sizes) || failed(checkMask(location, adaptor.getMask(), *sizes)) ||
      failed(checkVector(location, "lengths", adaptor.getLengths(),
                         "batch entry", sizes->batch)) ||
      failed(checkVector(location, "slopes", adaptor.getSlopes(), "head",
                         sizes->heads)))
    return failure();
  if (failed(checkNumber(location, "window", adaptor.getWindow(), 1)) ||
      failed(checkNumber(location, "query_offset", adaptor.getQueryOffset(),
                         -kFarthest)) ||
      failed(checkScale(location, adaptor.getScale())) ||
      failed(checkDropout(location, adaptor.getDropoutKey(),
                          adaptor.getDropoutP())))
    return failure();
  return sizes;
}

LogicalResult ScaledDotProductAttentionOp::inferReturnTypes(MLIRContext *,
                                                            Where location,
                                                            Adaptor adaptor,
                                                            Types &types) {
  auto sizes = checkAttention(location, adaptor);
  if (failed(sizes))
    return failure();
  auto query = tensorType(adaptor.getQuery());
  SmallVector<int64_t> shape(query.getShape().drop_back());
  shape.push_back(sizes->width);
  types.append({query.clone(shape), statisticType(adaptor.getQuery())});
  return success();
}

LogicalResult ScaledDotProductAttentionBackwardOp::inferReturnTypes(
    MLIRContext *, Where location, Adaptor adaptor, Types &types) {
  auto sizes = checkAttention(location, adaptor);
  if (failed(sizes))
    return failure();
  auto query = tensorType(adaptor.getQuery()),
       statistic = statisticType(adaptor.getQuery());
  SmallVector<int64_t> shape(query.getShape().drop_back());
  shape.push_back(sizes->width);
  auto expect = [&](StringRef name, Value operand, RankedTensorType wanted) {
    if (operand.getType() == wanted)
      return success();
    return emitOptionalError(location, name, " is ", operand.getType(),
                             ", expected ", wanted);
  };
  if (failed(expect("gradient", adaptor.getGradient(), query.clone(shape))) ||
      failed(expect("log_sum_exp", adaptor.getLogSumExp(), statistic)) ||
      failed(expect("delta", adaptor.getDelta(), statistic)))
    return failure();
  types.append(
      {query, adaptor.getKey().getType(), adaptor.getValue().getType()});
  return success();
}

/// A result is a sum over keys, or over the queries of all heads of a group.
/// Each query is on its own, and each batch entry. Keys are mixed.
std::optional<int64_t> ScaledDotProductAttentionOp::followRows(unsigned operand,
                                                               int64_t dim) {
  Value of = getOperand(operand);
  if (of == getQuery() && operand == 0)
    return dim < 3 ? std::optional(dim) : std::nullopt;
  if (operand < 3 || of == getLengths())
    return dim == 0 ? std::optional<int64_t>(0) : std::nullopt;
  if (of != getMask())
    return std::nullopt;
  // [batch, heads, tokens, keys], some of which may be left out.
  constexpr std::optional<int64_t> kScores[] = {0, 2, 1, std::nullopt};
  return kScores[dim + 4 - tensorType(of).getRank()];
}

std::optional<int64_t> ScaledDotProductAttentionOp::getTermCount() {
  return getKey().getType().getDimSize(1);
}
std::optional<int64_t> ScaledDotProductAttentionBackwardOp::getTermCount() {
  auto query = getQuery().getType(), key = getKey().getType();
  return std::max(key.getDimSize(1), query.getDimSize(1) * query.getDimSize(2) /
                                         key.getDimSize(2));
}

std::optional<IndexRange>
ScaledDotProductAttentionOp::getIndexRange(unsigned operand) {
  if (!getLengths() || getOperand(operand) != getLengths())
    return std::nullopt;
  return IndexRange{0, getKey().getType().getDimSize(1) + 1, std::nullopt};
}

/// The gradients of a float mask and of slopes draw the dropout again, by an op
/// of the key's stream.
LogicalResult ScaledDotProductAttentionOp::verify() {
  bool isBias = getSlopes() || (getMask() && isFloatTensor(getMask()));
  Value key = getDropoutKey();
  if (!key || !isBias || isa<KernelOp>((*this)->getParentOp()) ||
      key.getDefiningOp<RandomKeyOp>())
    return success();
  return emitOpError() << "with float mask or slopes takes a dropout key of "
                          "mp.random_key in its function";
}

bool ScaledDotProductAttentionOp::differsInEvaluation() {
  return bool(getDropoutKey());
}
SmallVector<Value>
ScaledDotProductAttentionOp::buildEvaluation(ImplicitLocOpBuilder &b) {
  auto all = cast<ScaledDotProductAttentionOp>(b.clone(*getOperation()));
  all.getDropoutKeyMutable().clear();
  all.removeDropoutPAttr();
  return SmallVector<Value>(all->getResults());
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// Scores as a tensor, for the gradient of a mask, which is as large.
class WholeScores {
public:
  WholeScores(ImplicitLocOpBuilder &b, ScaledDotProductAttentionOp op)
      : b(b), op(op), query(op.getQuery().getType()),
        key(op.getKey().getType()) {}

  /// The gradient of the scores [batch, heads, tokens, keys], from those of the
  /// results; that of log_sum_exp may be null.
  Value gradient(Expression result, Value logSumExp) {
    Expression logSum(b, perQuery(op.getLogSumExp()));
    Expression weights = allowed(exp(scores() - logSum));
    Expression products(
        b, dropped(multiply(byHead(result), perHead(op.getValue()))));
    // Made of a rounded result, it would not balance a row: sums of rows, and
    // distances times gradients, would be those of roundings.
    Expression mean(b, SumOp::create(b, weights * products,
                                     ArrayRef<int64_t>{3}, /*keepdim=*/true));
    Expression change = products - mean;
    if (logSumExp)
      change = change + Expression(b, perQuery(logSumExp));
    return weights * change;
  }
  /// That of the slopes, from that of the scores.
  Value slopesGradient(Expression scores) {
    Expression products = scores * -awayFromQuery();
    return SumOp::create(b, products, ArrayRef<int64_t>{0, 2, 3},
                         /*keepdim=*/false);
  }

private:
  /// Zeros where the weight has been dropped.
  Value dropped(Value products) {
    if (!op.getDropoutKey())
      return products;
    auto key = op.getDropoutKey().getDefiningOp<RandomKeyOp>();
    return DropoutBackwardOp::create(b, products, key.getKey(),
                                     key.getStreamAttr(), op.getDropoutPAttr());
  }
  Value multiply(Value x, Value y) {
    return MatmulOp::create(b, x, y, /*transpose_a=*/false,
                            /*transpose_b=*/true, TypeAttr(), TypeAttr());
  }
  /// In the type of the scores, which masks and slopes may not have.
  Value wide(Value x) {
    return castTo(b, x, computeType(key.getElementType()));
  }
  /// [batch, tokens, heads, n] to [batch, heads, tokens, n].
  Value byHead(Value x) {
    return TransposeOp::create(b, wide(x), ArrayRef<int64_t>{0, 2, 1, 3});
  }
  /// The same for key or value, each group repeated for its heads.
  Value perHead(Value x) {
    auto type = tensorType(x);
    ArrayRef<int64_t> shape = type.getShape();
    int64_t heads = query.getDimSize(2);
    if (heads != shape[2]) {
      auto apart = [&](int64_t repeats) {
        return type.clone({shape[0], shape[1], shape[2], repeats, shape[3]});
      };
      x = ReshapeOp::create(b, apart(1), x);
      x = BroadcastOp::create(b, apart(heads / shape[2]), x);
      x = ReshapeOp::create(
          b, type.clone({shape[0], shape[1], heads, shape[3]}), x);
    }
    return byHead(x);
  }
  /// [batch, tokens, heads] to [batch, heads, tokens, 1].
  Value perQuery(Value x) {
    auto type = tensorType(x);
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(1);
    return byHead(ReshapeOp::create(b, type.clone(shape), x));
  }

  Expression scores() {
    double scale = op.getScale() ? op.getScale()->convertToDouble()
                                 : 1 / std::sqrt(double(key.getDimSize(3)));
    Expression product(b,
                       multiply(byHead(op.getQuery()), perHead(op.getKey())));
    Expression sum = product * scale;
    if (op.getMask() && isFloatTensor(op.getMask()))
      sum = sum + Expression(b, wide(op.getMask()));
    if (!op.getSlopes())
      return sum;
    auto slopes = tensorType(op.getSlopes());
    Value column = ReshapeOp::create(
        b, slopes.clone({slopes.getDimSize(0), 1, 1}), op.getSlopes());
    return sum - Expression(b, wide(column)) * awayFromQuery();
  }
  /// |position of the query - position of the key|.
  Expression awayFromQuery() { return abs(Expression(b, wide(distances()))); }

  Value iota(int64_t dim) {
    auto type = RankedTensorType::get({query.getDimSize(1), key.getDimSize(1)},
                                      b.getI32Type());
    return IotaOp::create(b, type, dim);
  }
  Value number(int64_t value) {
    return splat(b, RankedTensorType::get({}, b.getI32Type()), double(value));
  }
  /// Positions of the queries less those of the keys, [tokens, keys].
  Value distances() {
    Value query =
        AddOp::create(b, iota(0), number(op.getQueryOffset().value_or(0)));
    return SubOp::create(b, query, iota(1));
  }
  /// Weights of the keys that are looked at, and zeros.
  Expression allowed(Expression weights) {
    auto keep = [&](Comparison comparison, Value x, Value y) {
      Value flag = CompareOp::create(b, comparison, x, y);
      weights = select(Expression(b, flag), weights, 0);
    };
    if (op.getCausal())
      keep(Comparison::ge, distances(), number(0));
    if (op.getWindow()) {
      keep(Comparison::lt, distances(), number(*op.getWindow()));
      if (!op.getCausal())
        keep(Comparison::gt, distances(), number(-int64_t(*op.getWindow())));
    }
    if (op.getMask() && !isFloatTensor(op.getMask()))
      weights = select(Expression(b, op.getMask()), weights, 0);
    if (Value lengths = op.getLengths()) {
      auto type = tensorType(lengths);
      Value column = ReshapeOp::create(
          b, type.clone({type.getDimSize(0), 1, 1, 1}), lengths);
      keep(Comparison::lt, castTo(b, iota(1), type.getElementType()), column);
    }
    return weights;
  }

  ImplicitLocOpBuilder &b;
  ScaledDotProductAttentionOp op;
  RankedTensorType query, key;
};
} // namespace

SmallVector<Value>
ScaledDotProductAttentionOp::buildGradients(ImplicitLocOpBuilder &b,
                                            ValueRange g) {
  Value result = g[0] ? castTo(b, g[0], elementType(getResult()))
                      : splat(b, getResult().getType(), 0);
  Expression products =
      Expression(b, result).wide() * Expression(b, getResult()).wide();
  Expression delta(
      b, SumOp::create(b, products, ArrayRef<int64_t>{3}, /*keepdim=*/false));
  if (g[1])
    delta = delta - Expression(b, g[1]);
  auto backward = ScaledDotProductAttentionBackwardOp::create(
      b, result, getQuery(), getKey(), getValue(), getLogSumExp(), delta,
      getMask(), getLengths(), getSlopes(), getDropoutKey(), getDropoutPAttr(),
      getCausalAttr(), getWindowAttr(), getQueryOffsetAttr(), getScaleAttr());
  SmallVector<Value> gradients(backward.getResults());
  gradients.resize((*this)->getNumOperands());
  bool isBias = getMask() && isFloatTensor(getMask());
  if (!isBias && !getSlopes())
    return gradients;
  // These have no use where mask and slopes are not trained.
  WholeScores whole(b, *this);
  Expression scores(b, whole.gradient({b, result}, g[1]));
  if (isBias)
    gradients[3] = scores;
  if (getSlopes())
    gradients[getSlopesMutable().begin()->getOperandNumber()] =
        whole.slopesGradient(scores);
  return gradients;
}

/// Two heads of three queries and five keys in a batch of two.
std::vector<OpSample> ScaledDotProductAttentionOp::sampleInputs() {
  auto sample = [](int64_t groups, StringRef rest,
                   std::vector<OperandSample> more = {}) {
    std::string query = "tensor<2x3x2x4xf64>",
                key = "tensor<2x5x" + std::to_string(groups) + "x4xf64>",
                value = "tensor<2x5x" + std::to_string(groups) + "x3xf64>";
    std::vector<OperandSample> operands{{query}, {key}, {value}};
    operands.insert(operands.end(), more.begin(), more.end());
    return OpSample{operands, "mp.scaled_dot_product_attention %0, %1, %2 " +
                                  rest.str() + " : " + query + ", " + key +
                                  ", " + value};
  };
  OperandSample mask{"tensor<2x1x3x5xf64>"}, slopes{"tensor<2xF64>"};
  OperandSample key{"tensor<4xi64>", 0, 1000};
  return {
      sample(2, ""), sample(1, "causal query_offset(2) {scale = 0.7}"),
      sample(2, "mask(%3 : tensor<2x1x3x5xf64>) window(2)", {mask}),
      sample(1, "slopes(%3 : tensor<2xF64>) causal query_offset(1)", {slopes}),
      sample(2, "dropout(%3, 0.25) causal query_offset(2)", {key})};
}
