//===- RecognizeAttention.cpp - products around a softmax as one op -------===//
#include "dialect/Expression.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Attention.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Gradient.h"
#include "dialect/ops/Linear.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Random.h"
#include "dialect/ops/Softmax.h"
#include "dialect/ops/View.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace mp {
#define GEN_PASS_DEF_RECOGNIZEATTENTION
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Attention as it is spelled out: dropout(softmax(scale * query key^T + mask))
/// value.
struct Spelled {
  MatmulOp product;  ///< of the weights and the values
  DropoutOp dropout; ///< null if there is none
  MatmulOp scores = {};
  double scale = 1;
  Value mask = {}; ///< added to the scores; null if there is none
  bool causal = false;
};

/// The op that computes a value for one user alone, and says nothing of how.
template <typename Op> Op onlyFor(Value value) {
  auto op = value.getDefiningOp<Op>();
  bool isPlain =
      op && value.hasOneUse() && op->getDiscardableAttrDictionary().empty();
  return isPlain ? op : Op();
}

bool isPlain(MatmulOp op) {
  return !op.getTransposeA() && !op.getCompute() && !op.getOutDtype() &&
         op->getDiscardableAttrDictionary().empty() &&
         tensorType(op.getLhs()).getRank() == tensorType(op.getRhs()).getRank();
}

/// The number that all elements of a constant are.
std::optional<double> splatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? splatValue(constant.getValue()) : std::nullopt;
}

/// Whether a value counts dimension `fromEnd`, counted from the last one.
bool countsDim(Value value, int64_t fromEnd) {
  auto iota = value.getDefiningOp<IotaOp>();
  return iota &&
         iota.getType().getRank() - static_cast<int64_t>(iota.getDim()) ==
             fromEnd;
}

/// Whether a flag says that a key [.., T] comes no later than a query [T, ..],
/// or with `isLater` that it does.
bool comparesPlaces(Value flag, bool isLater) {
  auto compare = flag.getDefiningOp<CompareOp>();
  if (!compare)
    return false;
  auto is = [&](Comparison keyFirst, Comparison queryFirst) {
    bool keyIsLeft =
        countsDim(compare.getLhs(), 1) && countsDim(compare.getRhs(), 2);
    bool queryIsLeft =
        countsDim(compare.getLhs(), 2) && countsDim(compare.getRhs(), 1);
    return (keyIsLeft && compare.getRelation() == keyFirst) ||
           (queryIsLeft && compare.getRelation() == queryFirst);
  };
  return isLater ? is(Comparison::gt, Comparison::lt)
                 : is(Comparison::le, Comparison::ge);
}

/// A score that no finite one comes near.
bool isNever(Value value) {
  auto fill = splatOf(value);
  return fill && *fill <= -1e4;
}

class Matcher {
public:
  /// Matches what a product of weights and values ends; null if it is not
  /// attention.
  std::optional<Spelled> match(MatmulOp product) {
    auto dropout = onlyFor<DropoutOp>(product.getLhs());
    auto softmax =
        onlyFor<SoftmaxOp>(dropout ? dropout.getInput() : product.getLhs());
    int64_t rank = product.getType().getRank();
    if (!isPlain(product) || product.getTransposeB() || !softmax || rank < 2 ||
        rank > 4 || static_cast<int64_t>(softmax.getDim()) != rank - 1)
      return std::nullopt;
    found = Spelled{product, dropout};
    type = tensorType(softmax.getInput());
    for (Value value = softmax.getInput(); value && !found.scores;)
      value = follow(value);
    if (!found.scores || !hasKeysForQueries())
      return std::nullopt;
    return found;
  }

private:
  /// Takes an op in front of the softmax; returns the scores that it changes,
  /// null if it has no place in attention.
  Value follow(Value value) {
    if (tensorType(value).getShape() != type.getShape())
      return {};
    if (auto product = onlyFor<MatmulOp>(value))
      return isPlain(product) ? (found.scores = product, value) : Value();
    if (auto op = onlyFor<MulOp>(value))
      return scaled(op.getLhs(), op.getRhs(), /*divides=*/false);
    if (auto op = onlyFor<DivOp>(value))
      return scaled(op.getLhs(), op.getRhs(), /*divides=*/true);
    if (auto op = onlyFor<AddOp>(value))
      return masked(op);
    if (auto op = onlyFor<SelectOp>(value))
      return bounded(op);
    return {};
  }

  Value scaled(Value scores, Value factor, bool divides) {
    auto number = splatOf(factor);
    if (!number && !divides) {
      std::swap(scores, factor);
      number = splatOf(factor);
    }
    if (!number || *number == 0)
      return {};
    found.scale = divides ? found.scale / *number : found.scale * *number;
    return scores;
  }

  /// A mask that is added after the scale, before which nothing came.
  Value masked(AddOp op) {
    if (found.mask || found.causal || found.scale != 1)
      return {};
    for (auto [scores, mask] : {std::pair(op.getLhs(), op.getRhs()),
                                std::pair(op.getRhs(), op.getLhs())})
      if (leadsToProduct(scores)) {
        found.mask = mask;
        return scores;
      }
    return {};
  }

  static bool leadsToProduct(Value value) {
    while (!onlyFor<MatmulOp>(value)) {
      if (auto op = onlyFor<MulOp>(value))
        value = splatOf(op.getLhs()) ? op.getRhs() : op.getLhs();
      else if (auto op = onlyFor<DivOp>(value))
        value = op.getLhs();
      else
        return false;
    }
    return true;
  }

  /// The choice between a score and none for keys that come later: no row is
  /// left without a key.
  Value bounded(SelectOp op) {
    if (found.causal || found.scale != 1)
      return {};
    found.causal = true;
    if (comparesPlaces(op.getCondition(), /*isLater=*/false) &&
        isNever(op.getRhs()))
      return op.getLhs();
    if (comparesPlaces(op.getCondition(), /*isLater=*/true) &&
        isNever(op.getLhs()))
      return op.getRhs();
    return {};
  }

  /// The op takes operands of one type, whose batches agree. In 16 bits the ops
  /// round the scores and the weights, which the op does not.
  bool hasKeysForQueries() {
    auto query = tensorType(found.scores.getLhs()),
         value = tensorType(found.product.getRhs());
    if (query.getElementType() != value.getElementType() ||
        !query.getElementType().isF32() || !type.getElementType().isF32() ||
        query.getShape().drop_back(2) != value.getShape().drop_back(2))
      return false;
    // An empty softmax has a meaning of its own.
    return !llvm::is_contained(type.getShape(), 0) &&
           !llvm::is_contained(query.getShape(), 0) &&
           !llvm::is_contained(value.getShape(), 0);
  }

  Spelled found;
  RankedTensorType type; ///< of the scores
};

/// Builds the op in place of what it is spelled of.
class Rewriter {
public:
  explicit Rewriter(const Spelled &spelled)
      : spelled(spelled), product(spelled.product), scores(spelled.scores),
        dropout(spelled.dropout), b(product.getLoc(), product) {}

  void run() {
    Value query = tokensFirst(scores.getLhs(), /*isTransposed=*/false);
    Value key = tokensFirst(scores.getRhs(), !scores.getTransposeB());
    Value value = tokensFirst(product.getRhs(), /*isTransposed=*/false);
    auto attention = ScaledDotProductAttentionOp::create(
        b, query, key, value, maskOf(), /*lengths=*/Value(),
        /*slopes=*/Value(), dropoutKey(), dropoutProbability(), spelled.causal,
        /*window=*/IntegerAttr(), /*query_offset=*/IntegerAttr(),
        b.getF64FloatAttr(spelled.scale));
    Value result = attention.getResult();
    if (rank() == 4)
      result = transposed(result, {0, 2, 1, 3});
    else
      result = reshaped(result, product.getType().getShape());
    product.getResult().replaceAllUsesWith(result);
  }

private:
  int64_t rank() { return product.getType().getRank(); }

  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    auto type = tensorType(value);
    if (type.getShape() == shape)
      return value;
    return ReshapeOp::create(b, type.clone(shape), value);
  }

  /// Swaps dimensions; what was swapped in the same way is taken as it was.
  Value transposed(Value value, ArrayRef<int64_t> permutation) {
    auto before = value.getDefiningOp<TransposeOp>();
    if (!before)
      return TransposeOp::create(b, value, permutation);
    SmallVector<int64_t> both;
    for (int64_t dim : permutation)
      both.push_back(before.getPermutation()[dim]);
    if (llvm::equal(both, llvm::seq<int64_t>(0, both.size())))
      return before.getInput();
    return TransposeOp::create(b, before.getInput(), both);
  }

  /// Returns [batch, heads, tokens, channels], or with channels before tokens,
  /// as [batch, tokens, heads, channels]. Without heads there is one.
  Value tokensFirst(Value value, bool isTransposed) {
    if (rank() == 4)
      return transposed(value, isTransposed ? ArrayRef<int64_t>{0, 3, 1, 2}
                                            : ArrayRef<int64_t>{0, 2, 1, 3});
    if (isTransposed)
      value = transposed(value, rank() == 3 ? ArrayRef<int64_t>{0, 2, 1}
                                            : ArrayRef<int64_t>{1, 0});
    auto shape = tensorType(value).getShape();
    return reshaped(value, {rank() == 3 ? shape[0] : 1, shape[rank() - 2], 1,
                            shape[rank() - 1]});
  }

  /// The key by which the op drops what the dropout would.
  Value dropoutKey() {
    if (!dropout)
      return {};
    return RandomKeyOp::create(b, dropout.getKey(), dropout.getStreamAttr());
  }
  FloatAttr dropoutProbability() {
    return dropout ? dropout.getPAttr() : FloatAttr();
  }

  /// The mask of [batch, heads, tokens, keys]; one of [batch, tokens, keys] is
  /// for all heads.
  Value maskOf() {
    if (!spelled.mask)
      return {};
    auto shape = tensorType(spelled.mask).getShape();
    if (rank() == 4 || shape.size() < 3)
      return spelled.mask;
    return reshaped(spelled.mask, {shape[0], 1, shape[1], shape[2]});
  }

  const Spelled &spelled;
  MatmulOp product, scores;
  DropoutOp dropout;
  ImplicitLocOpBuilder b;
};

struct RecognizeAttention
    : mp::impl::RecognizeAttentionBase<RecognizeAttention> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // Attention has no second derivatives, what it is spelled of has.
    bool differentiates = false;
    function.walk([&](GradientOp) { differentiates = true; });
    if (differentiates)
      return;
    SmallVector<MatmulOp> products;
    function.walk([&](MatmulOp op) { products.push_back(op); });
    // What is erased with a product comes before it, and has been visited.
    for (MatmulOp product : products)
      if (auto spelled = Matcher().match(product)) {
        Rewriter(*spelled).run();
        eraseDead(product);
      }
  }

private:
  /// Erases an op that has no use any more, and what it alone used.
  static void eraseDead(Operation *op) {
    if (!isOpTriviallyDead(op))
      return;
    llvm::SetVector<Operation *> producers;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
    op->erase();
    llvm::for_each(producers, eraseDead);
  }
};
} // namespace
