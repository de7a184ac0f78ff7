//===- Adjoint.cpp - steps of reverse mode that rules share ---------------===//
#include "dialect/Adjoint.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

Value mp::sumTo(ImplicitLocOpBuilder &b, Value gradient,
                RankedTensorType type) {
  auto from = tensorType(gradient);
  if (from.getShape() == type.getShape())
    return gradient;
  int64_t extra = from.getRank() - type.getRank();
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < from.getRank(); ++i)
    if (i < extra ||
        (type.getDimSize(i - extra) == 1 && from.getDimSize(i) != 1))
      dims.push_back(i);
  Value sum =
      dims.empty() ? gradient : Value(SumOp::create(b, gradient, dims, false));
  auto wanted = type.clone(from.getElementType());
  return sum.getType() == wanted ? sum
                                 : Value(ReshapeOp::create(b, wanted, sum));
}

namespace {
/// Reverse mode over the parts of a decomposed op.
class Parts {
public:
  Parts(ImplicitLocOpBuilder &b, ValueRange sources)
      : b(b), active(sources.begin(), sources.end()) {}

  void accumulate(Value value, Value gradient) {
    Value fitted =
        castTo(b, sumTo(b, gradient, tensorType(value)), elementType(value));
    Value &known = gradients[value];
    known = known ? Value(AddOp::create(b, known, fitted)) : fitted;
  }

  /// Goes backwards through the parts, which are given in forward order.
  void goBack(ArrayRef<Operation *> parts) {
    for (Operation *part : parts)
      if (llvm::any_of(part->getOperands(),
                       [&](Value operand) { return isWanted(operand); }))
        active.insert(part->result_begin(), part->result_end());
    for (Operation *part : llvm::reverse(parts))
      visit(part);
  }

  /// The gradient that reached a value, or null.
  Value gradientOf(Value value) const { return gradients.lookup(value); }

private:
  bool isWanted(Value value) const {
    return active.contains(value) && isFloatTensor(value);
  }

  void visit(Operation *part) {
    auto rule = dyn_cast<DifferentiableOpInterface>(part);
    SmallVector<Value> arrived;
    for (Value result : part->getResults())
      arrived.push_back(active.contains(result) ? gradients.lookup(result)
                                                : Value());
    if (!rule || llvm::none_of(arrived, [](Value value) { return !!value; }))
      return;
    for (auto [operand, gradient] :
         llvm::zip_equal(part->getOperands(), rule.buildGradients(b, arrived)))
      if (gradient && isWanted(operand))
        accumulate(operand, gradient);
  }

  ImplicitLocOpBuilder &b;
  DenseSet<Value> active;
  DenseMap<Value, Value> gradients;
};
} // namespace

/// The op's operands in their compute type, as distinct values, so that the
/// gradients of an operand that is used twice stay apart.
static SmallVector<Value> distinctOperands(Operation *op,
                                           ImplicitLocOpBuilder &b) {
  SmallVector<Value> distinct;
  for (Value operand : op->getOperands()) {
    if (isFloatTensor(operand))
      operand = castTo(b, operand, computeType(elementType(operand)));
    if (llvm::is_contained(distinct, operand))
      operand = ReshapeOp::create(b, operand.getType(), operand);
    distinct.push_back(operand);
  }
  return distinct;
}

SmallVector<Value> mp::differentiateParts(DecomposableOpInterface op,
                                          ImplicitLocOpBuilder &b,
                                          ValueRange gradients) {
  SmallVector<Value> operands = distinctOperands(op, b);
  Block::iterator end = b.getInsertionPoint();
  bool isFirst = end == b.getInsertionBlock()->begin();
  Operation *before = isFirst ? nullptr : &*std::prev(end);
  SmallVector<Value> results = op.decompose(b, operands);
  Block::iterator begin = before ? std::next(before->getIterator())
                                 : b.getInsertionBlock()->begin();
  auto parts =
      llvm::to_vector(llvm::make_pointer_range(llvm::make_range(begin, end)));

  Parts adjoint(b, operands);
  for (auto [result, gradient] : llvm::zip_equal(results, gradients))
    if (gradient)
      adjoint.accumulate(result, gradient);
  adjoint.goBack(parts);
  return llvm::map_to_vector(
      operands, [&](Value operand) { return adjoint.gradientOf(operand); });
}
