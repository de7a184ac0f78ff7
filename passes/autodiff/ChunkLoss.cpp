//===- ChunkLoss.cpp - the rows of a loss in parts ------------------------===//
//
// Rows of logits do not depend on one another, so a classifier and its loss can
// take them in parts without a change to any bit of a row. The parts are
// ordinary ops: autodiff, casts and kernels need to know nothing of them.
//
//===----------------------------------------------------------------------===//
#include "dialect/LossRules.h"
#include "dialect/Slices.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/CrossEntropy.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Linear.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/View.h"
#include "passes/Passes.h"
#include "passes/analysis/SettingOptions.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace mp {
#define GEN_PASS_DEF_CHUNKLOSS
#include "passes/autodiff/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

/// Logits of so many numbers are not worth a second part.
static constexpr int64_t kFewNumbers = int64_t(4) << 20;
/// Parts of at least so many rows are rounded up to whole tiles of products.
static constexpr int64_t kManyRows = 64, kTileRows = 16;

//===----------------------------------------------------------------------===//
// What is taken in parts
//===----------------------------------------------------------------------===//

namespace {
/// A product that makes logits, and what reads them.
struct Classifier {
  Operation *product = nullptr;
  /// Casts and reshapes of the logits, in the order of the block.
  SmallVector<Operation *> views;
  SmallVector<CrossEntropyOp> losses;
  SmallVector<AccuracyOp> accuracies;
  SmallVector<OpOperand *> others; ///< uses that parts cannot replace
};
} // namespace

/// The number of classes, which are the last dimension of logits.
static int64_t classesOf(Operation *product) {
  return tensorType(product->getResult(0)).getShape().back();
}

/// Whether an op multiplies rows, [.., in], by one matrix.
static bool multipliesRows(Operation *op) {
  if (auto product = dyn_cast<MatmulOp>(op))
    return !product.getTransposeA() &&
           tensorType(product.getRhs()).getRank() == 2;
  return isa<LinearOp>(op) && tensorType(op->getOperand(0)).getRank() > 1;
}

/// Whether a reshape keeps rows of classes together.
static bool keepsRows(ReshapeOp reshape, int64_t classes) {
  ArrayRef<int64_t> shape = tensorType(reshape.getResult()).getShape();
  return shape.size() > 1 && shape.back() == classes;
}

template <typename Op> static bool takesRows(Op op) {
  auto logits = tensorType(op.getLogits());
  return static_cast<int64_t>(op.getDim()) == logits.getRank() - 1;
}

static Classifier classifierOf(Operation *product) {
  Classifier found;
  found.product = product;
  SetVector<Value> logits;
  logits.insert(product->getResult(0));
  for (unsigned i = 0; i < logits.size(); ++i)
    for (OpOperand &use : logits[i].getUses()) {
      Operation *user = use.getOwner();
      auto reshape = dyn_cast<ReshapeOp>(user);
      auto loss = dyn_cast<CrossEntropyOp>(user);
      auto accuracy = dyn_cast<AccuracyOp>(user);
      bool isLogits = use.getOperandNumber() == 0;
      if ((isa<CastOp>(user) && isFloatTensor(user->getResult(0))) ||
          (reshape && keepsRows(reshape, classesOf(product)))) {
        logits.insert(user->getResult(0));
        found.views.push_back(user);
      } else if (loss && isLogits && takesRows(loss)) {
        found.losses.push_back(loss);
      } else if (accuracy && isLogits && takesRows(accuracy)) {
        found.accuracies.push_back(accuracy);
      } else {
        found.others.push_back(&use);
      }
    }
  llvm::sort(found.views,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return found;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Moves what computes a value before an op.
static void hoist(Value value, Operation *before) {
  Operation *op = value.getDefiningOp();
  if (!op || op->isBeforeInBlock(before))
    return;
  for (Value operand : op->getOperands())
    hoist(operand, before);
  op->moveBefore(before);
}

namespace {
/// Rewrites one classifier.
class Parts {
public:
  /// `number` is that of the first part.
  Parts(Classifier &classifier, int64_t rowsOfPart, int64_t number)
      : classifier(classifier),
        b(classifier.product->getLoc(), classifier.product),
        rowsOfPart(rowsOfPart), number(number) {
    Value logits = classifier.product->getResult(0);
    rows = tensorType(logits).getNumElements() / classesOf(classifier.product);
  }

  /// Returns the number of the next part.
  int64_t replace() {
    Operation *first = firstReader();
    for (CrossEntropyOp loss : classifier.losses)
      prepare(loss, first);
    for (AccuracyOp accuracy : classifier.accuracies)
      prepare(accuracy, first);
    b.setInsertionPoint(first);
    takeFactors();
    for (int64_t begin = 0; begin < rows; begin += rowsOfPart)
      addPart(begin, std::min(rowsOfPart, rows - begin));
    for (auto [i, loss] : llvm::enumerate(classifier.losses))
      finish(loss, losses[i]);
    for (auto [i, accuracy] : llvm::enumerate(classifier.accuracies))
      finish(accuracy, scores[i]);
    for (Operation *op : replaced)
      op->erase();
    return number;
  }

private:
  Operation *firstReader() {
    SmallVector<Operation *> readers;
    for (CrossEntropyOp loss : classifier.losses)
      readers.push_back(loss);
    for (AccuracyOp accuracy : classifier.accuracies)
      readers.push_back(accuracy);
    return *llvm::min_element(readers, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
  }

  /// What an op takes beside logits must be there before the first part.
  void prepare(Operation *op, Operation *first) {
    for (Value operand : op->getOperands().drop_front())
      hoist(operand, first);
  }

  /// The weight and the bias in f32 have the gradients of all parts added up in
  /// f32.
  void takeFactors() {
    b.setLoc(classifier.product->getLoc());
    // One reshape for all parts, whose gradients are joined behind it.
    Value taken = classifier.product->getOperand(0);
    input = asRows(taken, tensorType(taken).getShape().back());
    for (Value operand : classifier.product->getOperands().drop_front())
      factors.push_back(castTo(b, operand, wideType(elementType(operand))));
    losses.resize(classifier.losses.size());
    scores.resize(classifier.accuracies.size());
  }

  Type wideType(Type element) { return computeType(element); }

  /// Reshapes [.., last] to [rows, last], and anything else to [rows].
  Value asRows(Value value, int64_t last = 0) {
    SmallVector<int64_t> shape{rows};
    if (last)
      shape.push_back(last);
    auto type = tensorType(value);
    if (type.getShape() == ArrayRef(shape))
      return value;
    return ReshapeOp::create(b, type.clone(shape), value);
  }

  Value slice(Value value, int64_t begin, int64_t count) {
    return marked(sliceAlong(b, value, /*dim=*/0, begin, count));
  }

  Value marked(Value value) {
    value.getDefiningOp()->setAttr(kChunkAttr, b.getI64IntegerAttr(number));
    return value;
  }

  Value markedCast(Value value, Type element) {
    if (elementType(value) == element)
      return value;
    return marked(castTo(b, value, element));
  }

  void addPart(int64_t begin, int64_t count) {
    Operation *product = classifier.product;
    b.setLoc(product->getLoc());
    SmallVector<Value> operands{slice(input, begin, count)};
    for (auto [factor, own] :
         llvm::zip_equal(factors, product->getOperands().drop_front()))
      operands.push_back(markedCast(factor, elementType(own)));
    Operation *copy = b.clone(*product);
    copy->setOperands(operands);
    (void)inferResultsAgain(copy);
    IRMapping logits;
    logits.map(product->getResult(0), marked(copy->getResult(0)));
    for (Operation *view : classifier.views) {
      b.setLoc(view->getLoc());
      logits.map(view->getResult(0),
                 markedCast(logits.lookup(view->getOperand(0)),
                            elementType(view->getResult(0))));
    }
    for (auto [i, loss] : llvm::enumerate(classifier.losses))
      losses[i].push_back(
          lossOf(loss, logits.lookup(loss.getLogits()), begin, count));
    for (auto [i, accuracy] : llvm::enumerate(classifier.accuracies))
      scores[i].push_back(
          scoreOf(accuracy, logits.lookup(accuracy.getLogits()), begin, count));
    ++number;
  }

  /// The losses of a part's rows, which are rounded to the type of the result
  /// only after they have been reduced.
  Value lossOf(CrossEntropyOp loss, Value logits, int64_t begin,
               int64_t count) {
    b.setLoc(loss.getLoc());
    Type wide = wideType(elementType(logits));
    Value labels = labelsOf(loss.getLabels(), logits, begin, count);
    if (isFloatTensor(labels))
      labels = markedCast(labels, wide);
    Value weight = loss.getWeight();
    return marked(CrossEntropyOp::create(
        b, markedCast(logits, wide), labels,
        weight ? markedCast(weight, wide) : Value(), /*dim=*/1,
        LossReduction::none, loss.getIgnoreIndex(), loss.getLabelSmoothing()));
  }

  Value labelsOf(Value labels, Value logits, int64_t begin, int64_t count) {
    int64_t classes = tensorType(logits).getDimSize(1);
    return slice(asRows(labels, isFloatTensor(labels) ? classes : 0), begin,
                 count);
  }

  Value scoreOf(AccuracyOp accuracy, Value logits, int64_t begin,
                int64_t count) {
    b.setLoc(accuracy.getLoc());
    LossReduction reduction = accuracy.getReduction() == LossReduction::none
                                  ? LossReduction::none
                                  : LossReduction::sum;
    return marked(AccuracyOp::create(
        b, logits, labelsOf(accuracy.getLabels(), logits, begin, count),
        /*dim=*/1, reduction, accuracy.getTopK()));
  }

  /// A column [rows, 1], as the op itself would reduce it.
  Expression asColumn(Value value) {
    return {b, ReshapeOp::create(b, tensorType(value).clone({rows, 1}), value)};
  }

  void finish(CrossEntropyOp loss, ArrayRef<Value> parts) {
    b.setLoc(loss.getLoc());
    Expression all = asColumn(ConcatOp::create(b, parts, 0));
    // The rows that are ignored are zeros already.
    Expression divisor = loss.getReduction() == LossReduction::mean
                             ? divisorOf(loss, all)
                             : Expression();
    put(loss, reduceLoss(all, loss.getReduction(), divisor));
  }

  /// The divisor of a mean: the sum of the labels' weights, or the number of
  /// rows that count.
  Expression divisorOf(CrossEntropyOp loss, Expression all) {
    Value labels = loss.getLabels(), weight = loss.getWeight();
    int64_t ignored = loss.getIgnoreIndex();
    bool isMasked = canIgnore(labels, ignored);
    if (isFloatTensor(labels) || (!weight && !isMasked))
      return all.number(rows);
    Expression label = asColumn(asRows(labels)).to(b.getI32Type());
    Expression each = all.number(1);
    if (weight)
      each = Expression(b, GatherOp::create(b, weight, label, /*dim=*/0,
                                            /*batched=*/false))
                 .to(elementType(all));
    if (isMasked && weight)
      each = select(label != ignored, each, 0);
    else if (isMasked)
      each = (label != ignored).to(elementType(all));
    return reduceLoss(each, LossReduction::sum, Expression());
  }

  void finish(AccuracyOp accuracy, ArrayRef<Value> parts) {
    b.setLoc(accuracy.getLoc());
    if (accuracy.getReduction() == LossReduction::none)
      return put(accuracy, Expression(b, ConcatOp::create(b, parts, 0)));
    Expression total(b, parts.front());
    for (Value part : parts.drop_front())
      total = total + Expression(b, part);
    put(accuracy,
        accuracy.getReduction() == LossReduction::sum ? total : total / rows);
  }

  void put(Operation *op, Expression result) {
    auto type = tensorType(op->getResult(0));
    Value value = result;
    if (tensorType(value).getShape() != type.getShape())
      value =
          ReshapeOp::create(b, tensorType(value).clone(type.getShape()), value);
    op->getResult(0).replaceAllUsesWith(
        castTo(b, value, type.getElementType()));
    replaced.push_back(op);
  }

  Classifier &classifier;
  ImplicitLocOpBuilder b;
  int64_t rows = 0, rowsOfPart, number;
  SmallVector<Operation *> replaced;
  Value input;                ///< of the product, [rows, in]
  SmallVector<Value> factors; ///< the weight and the bias
  SmallVector<SmallVector<Value>> losses, scores; ///< of each reader
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct ChunkLoss : PassWithSettings<mp::impl::ChunkLossBase<ChunkLoss>,
                                    &RecipeSettings::lossChunks> {
  using PassWithSettings::PassWithSettings;

  void runOnOperation() override {
    std::string wish = getSettings().lossChunks;
    int64_t count = 0; // auto
    if (wish != "auto" &&
        (StringRef(wish).getAsInteger(10, count) || count < 1)) {
      getOperation().emitError()
          << "\"" << wish
          << "\" does not say in how many parts a loss takes the rows of a "
             "batch, expected auto or a positive number";
      return signalPassFailure();
    }
    llvm::SetVector<func::FuncOp> done;
    for (TrainOp recipe : getOperation().getOps<TrainOp>()) {
      auto function =
          getOperation().lookupSymbol<func::FuncOp>(recipe.getFunction());
      if (function && done.insert(function) && failed(chunk(function, count)))
        return signalPassFailure();
    }
  }

private:
  LogicalResult chunk(func::FuncOp function, int64_t count) {
    std::vector<Classifier> classifiers;
    for (Operation &op : function.getBody().front()) {
      if (!multipliesRows(&op))
        continue;
      Classifier found = classifierOf(&op);
      if (!found.losses.empty())
        classifiers.push_back(std::move(found));
    }
    if (classifiers.empty())
      return refuse(function);
    int64_t number = 0;
    for (Classifier &classifier : classifiers) {
      if (failed(check(classifier)))
        return failure();
      auto type = tensorType(classifier.product->getResult(0));
      int64_t rows = type.getNumElements() / type.getShape().back();
      int64_t ofPart = rowsOfPart(classifier.product, rows, count);
      if (ofPart < rows)
        number = Parts(classifier, ofPart, number).replace();
    }
    return success();
  }

  static int64_t rowsOfPart(Operation *product, int64_t rows, int64_t count) {
    if (rows <= 1)
      return rows;
    if (count == 0) {
      int64_t weight = tensorType(product->getOperand(1)).getNumElements();
      int64_t most = std::max(weight, kFewNumbers);
      int64_t fits = std::max<int64_t>(1, most / classesOf(product));
      // The sum of gradients and the next term take as much as two parts.
      if (rows <= 2 * fits)
        return rows;
      count = llvm::divideCeil(rows, fits);
    }
    int64_t part = llvm::divideCeil(rows, count);
    return part < kManyRows ? part : llvm::alignTo(part, kTileRows);
  }

  /// Reports that a function has no loss that could be taken in parts.
  static LogicalResult refuse(func::FuncOp function) {
    auto diagnostic =
        function.emitOpError()
        << "has no loss whose rows could be taken in parts: loss-chunks "
           "needs an mp.cross_entropy, with the classes in the last "
           "dimension, of an mp.linear or an mp.matmul by one matrix";
    for (auto loss : function.getOps<CrossEntropyOp>()) {
      Operation *maker = loss.getLogits().getDefiningOp();
      auto &note = diagnostic.attachNote(loss.getLoc());
      note << "this one has its classes in dimension " << loss.getDim()
           << " of " << loss.getLogits().getType();
      if (maker)
        note << ", which '" << maker->getName() << "' makes";
      break;
    }
    return diagnostic;
  }

  LogicalResult check(const Classifier &classifier) {
    Operation *product = classifier.product;
    if (!tensorType(product->getResult(0)).hasStaticShape())
      return product->emitOpError()
             << "has a '?': run mp-specialize before mp-chunk-loss";
    if (product->hasAttr(kStorageAttr))
      return product->emitOpError()
             << "stores its operands in 8 bits, with one scale for all rows, "
                "so that loss-chunks cannot take them in parts";
    for (OpOperand *use : classifier.others)
      if (!isDropped(*use)) {
        auto diagnostic = product->emitOpError()
                          << "makes logits that are needed as a whole, so that "
                             "loss-chunks cannot take their rows in parts";
        diagnostic.attachNote(use->getOwner()->getLoc())
            << "'" << use->getOwner()->getName() << "' "
            << (isa<func::ReturnOp>(use->getOwner()) ? "returns" : "reads")
            << " them";
        return diagnostic;
      }
    return success();
  }

  /// Whether a use is a result that mp-return-numbers drops. The logits of all
  /// rows are then computed by nothing.
  bool isDropped(OpOperand &use) const {
    auto end = dyn_cast<func::ReturnOp>(use.getOwner());
    if (!end || !returnsNumbers)
      return false;
    auto function = end->getParentOfType<func::FuncOp>();
    auto name = function.getResultAttrOfType<StringAttr>(use.getOperandNumber(),
                                                         kNameAttr);
    return !name || !name.getValue().contains(':');
  }
};
} // namespace

std::unique_ptr<Pass> mp::createChunkLoss(const RecipeSettings &settings,
                                          const ChunkLossOptions &options) {
  return std::make_unique<ChunkLoss>(settings, options);
}
