//===- Quantize.cpp - contractions of 8-bit operands ----------------------===//
//
// The pass runs after autodiff, so that gradients pass as if nothing were
// rounded: if forward kept a value in 8 bits, backward multiplies the same
// bits, and the gradient that it multiplies them by is kept in 8 bits of its
// own kind.
//
//===----------------------------------------------------------------------===//
#include "dialect/ContractionRules.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/Recompute.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "passes/step/TensorScales.h"

namespace mp {
#define GEN_PASS_DEF_QUANTIZE
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {

/// Returns the parameter that a value is read from, or a copy of; or "".
StringRef parameterOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto read = dyn_cast<ReadOp>(op))
      return read.getVariable();
    auto facts = dyn_cast<AutocastOpInterface>(op);
    bool isCopy = isa<CastOp>(op) || (facts && facts.copiesElements());
    if (!isCopy || op->getNumOperands() != 1)
      return "";
    value = op->getOperand(0);
  }
  return "";
}

/// A value that forward keeps in 8 bits.
struct Kept {
  ScaledTensor tensor;
  StorageAttr storage;
  std::string layer; ///< the prefix of its contraction's scale names
};

class Quantizer {
public:
  Quantizer(func::FuncOp function, StringRef prefix)
      : function(function), prefix(prefix), scales(function, !prefix.empty()) {}

  void run() {
    findGradients();
    findComputedAgain();
    // Forward comes first: backward looks up the values that forward keeps.
    for (auto op : llvm::to_vector(function.getOps<AutocastOpInterface>())) {
      if (!isProduct(op))
        continue;
      if (auto storage = op->getAttrOfType<StorageAttr>(kStorageAttr))
        quantizeForward(op, storage);
      else
        quantizeBackward(op);
    }
    scales.finish();
  }

private:
  /// Finds the values that depend on a seed.
  void findGradients() {
    for (Operation &op : function.getBody().front()) {
      // The value that a barrier waits for is not an input.
      auto inputs = isa<RecomputeBarrierOp>(op) ? op.getOperands().take_front(1)
                                                : op.getOperands();
      bool is = isa<SeedOp>(op) || llvm::any_of(inputs, [&](Value v) {
                  return gradients.contains(v);
                });
      if (is)
        gradients.insert(op.result_begin(), op.result_end());
    }
  }

  /// Finds ops that backward computes again: their operands come through
  /// barriers, and they are otherwise equal to an op of forward.
  void findComputedAgain() {
    auto original = [&](Value v) {
      Value first = originals.lookup(v);
      return first ? first : v;
    };
    for (Operation &op : function.getBody().front()) {
      if (auto barrier = dyn_cast<RecomputeBarrierOp>(op)) {
        originals[barrier.getResult()] = original(barrier.getInput());
        continue;
      }
      if (llvm::none_of(op.getOperands(),
                        [&](Value v) { return originals.contains(v); }))
        continue;
      for (Operation *first : original(op.getOperand(0)).getUsers())
        if (first->getName() == op.getName() && first->isBeforeInBlock(&op) &&
            first->getAttrDictionary() == op.getAttrDictionary() &&
            first->getResultTypes() == op.getResultTypes() &&
            llvm::equal(first->getOperands(),
                        llvm::map_range(op.getOperands(), original))) {
          for (auto [again, result] :
               llvm::zip_equal(op.getResults(), first->getResults()))
            originals[again] = result;
          break;
        }
    }
  }

  void quantizeForward(AutocastOpInterface op, StorageAttr storage) {
    op->removeAttr(kStorageAttr);
    // An empty operand has no largest element; its product is zeros.
    if (llvm::any_of(op->getOperands().take_front(2), isEmpty))
      return;
    std::string layer = layerOf(op);
    auto keep = [&](unsigned operand) {
      Value value = op->getOperand(operand);
      const Kept *known = find(value);
      if (known && known->storage == storage)
        return known->tensor;
      StringRef parameter = parameterOf(value);
      std::string name = !parameter.empty()
                             ? parameter.str()
                             : layer + (operand ? ".rhs" : ".input");
      Kept made{scales.scale(value, storage.getForward(), storage, name),
                storage, layer};
      // If two policies keep a value in two ways, backward uses the first.
      if (!known)
        kept[value] = made;
      return made.tensor;
    };
    ScaledTensor lhs = keep(0), rhs = keep(1);
    multiply(op, lhs, rhs);
  }

  /// Quantizes a product of a kept value of forward and a gradient.
  void quantizeBackward(AutocastOpInterface op) {
    bool isLeft = gradients.contains(op->getOperand(0));
    if (isLeft == gradients.contains(op->getOperand(1)))
      return;
    Value gradient = op->getOperand(isLeft ? 0 : 1);
    const Kept *other = find(op->getOperand(isLeft ? 1 : 0));
    if (!other || isEmpty(gradient) ||
        elementType(gradient).getIntOrFloatBitWidth() != 16)
      return;
    ScaledTensor value = other->tensor;
    ScaledTensor &made = gradientBits[gradient];
    if (!made.bits)
      made =
          scales.scale(gradient, other->storage.getBackward(), other->storage,
                       other->layer + ".output_gradient", /*isGradient=*/true);
    isLeft ? multiply(op, made, value) : multiply(op, value, made);
  }

  /// Replaces the op by a product of 8-bit operands with f32 sums, in the type
  /// that it had.
  static void multiply(AutocastOpInterface op, const ScaledTensor &lhs,
                       const ScaledTensor &rhs) {
    Value result = op->getResult(0);
    Type type = elementType(result);
    // A contraction has two factors, and may have a bias.
    Value bias = op->getNumOperands() > 2 ? op->getOperand(2) : Value();
    if (bias)
      op->eraseOperand(2);
    op->setOperand(0, lhs.bits);
    op->setOperand(1, rhs.bits);
    (void)op.retypeResults();
    ImplicitLocOpBuilder b(op.getLoc(), op.getContext());
    b.setInsertionPointAfter(op);
    Value inverse = MulOp::create(b, lhs.inverseScale, rhs.inverseScale);
    Value sum = MulOp::create(b, result, inverse);
    Operation *product = sum.getDefiningOp();
    if (bias)
      sum = AddOp::create(b, sum, castTo(b, bias, b.getF32Type()));
    result.replaceAllUsesExcept(castTo(b, sum, type), product);
  }

  /// Returns the kept value of forward, or a view of it.
  const Kept *find(Value value) {
    auto known = kept.find(value);
    if (known != kept.end())
      return &known->second;
    if (Value original = originals.lookup(value))
      if (const Kept *first = find(original)) {
        Kept again = *first;
        again.tensor = TensorScales::scaleAgain(value, first->tensor);
        return &(kept[value] = std::move(again));
      }
    auto view = value.getDefiningOp<AutocastOpInterface>();
    if (!view || !view.copiesElements() || view->getNumOperands() != 1)
      return nullptr;
    const Kept *source = find(view->getOperand(0));
    if (!source)
      return nullptr;
    Kept copy = *source;
    OpBuilder builder(view);
    auto moved = cast<AutocastOpInterface>(builder.clone(*view));
    moved->setOperand(0, copy.tensor.bits);
    (void)moved.retypeResults();
    copy.tensor.bits = moved->getResult(0);
    return &(kept[value] = std::move(copy));
  }

  /// Returns a contraction's own name: its parameter's, or its place.
  std::string layerOf(Operation *op) {
    for (Value operand : op->getOperands().take_front(2))
      if (StringRef name = parameterOf(operand); !name.empty())
        return name.str();
    return (prefix.empty() ? function.getName() : prefix).str() + ".product" +
           std::to_string(products++);
  }

  func::FuncOp function;
  StringRef prefix;
  TensorScales scales;
  DenseSet<Value> gradients;
  DenseMap<Value, Value> originals; ///< of the values that are computed again
  DenseMap<Value, Kept> kept;
  DenseMap<Value, ScaledTensor> gradientBits;
  unsigned products = 0;
};

struct Quantize : mp::impl::QuantizeBase<Quantize> {
  using Base::Base;

  void runOnOperation() override {
    llvm::StringMap<StringRef> entries;
    for (auto recipe : getOperation().getOps<TrainOp>()) {
      entries.try_emplace(recipe.getFunction(), recipe.getEntry());
      entries.try_emplace(recipe.getEntry(), recipe.getEntry());
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      bool isAsked = false;
      function.walk(
          [&](Operation *op) { isAsked |= op->hasAttr(kStorageAttr); });
      if (!isAsked)
        continue;
      if (!phaseOf(function).empty()) {
        function.emitOpError() << "is split already: run mp-quantize before "
                                  "mp-accumulate";
        return signalPassFailure();
      }
      Quantizer(function, entries.lookup(function.getName())).run();
    }
  }
};
} // namespace
