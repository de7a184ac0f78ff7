//===- Collective.cpp - exchanges between ranks ---------------------------===//
#include "dialect/ops/Collective.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Layout.h"
#include "dialect/ops/Logic.h"

using namespace mlir;
using namespace mp;

using Gradients = SmallVector<Value>;
using Where = std::optional<Location>;
using Types = SmallVectorImpl<Type>;

//===----------------------------------------------------------------------===//
// Type rules
//===----------------------------------------------------------------------===//

/// Checks that tensors can be exchanged together.
static LogicalResult checkTensors(Where location, ValueRange inputs) {
  if (inputs.empty())
    return emitOptionalError(location, "has no tensor to exchange");
  Type element = elementType(inputs.front());
  for (Value input : inputs) {
    RankedTensorType type = tensorType(input);
    if (type.getElementType() != element)
      return emitOptionalError(location, "element types differ: ", element,
                               " vs ", type.getElementType());
    if (!type.hasStaticShape())
      return emitOptionalError(
          location, type,
          " has a '?', but ranks exchange tensors of equal sizes");
  }
  return success();
}

/// Checks that a type can be combined in this way.
static LogicalResult checkReduction(Where location, RankReduction reduction,
                                    ValueRange inputs) {
  if (failed(checkTensors(location, inputs)))
    return failure();
  Type element = elementType(inputs.front());
  if (element.isInteger(1) != (reduction == RankReduction::logicalOr))
    return emitOptionalError(location, "cannot combine elements of ", element,
                             " by ", stringifyRankReduction(reduction),
                             element.isInteger(1) ? ", but by or" : "");
  return success();
}

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, Where location,
                                            Adaptor adaptor, Types &types) {
  llvm::append_range(types, adaptor.getInputs().getTypes());
  return checkReduction(location, adaptor.getReduction(), adaptor.getInputs());
}

LogicalResult AllGatherOp::inferReturnTypes(MLIRContext *, Where location,
                                            Adaptor adaptor, Types &types) {
  int64_t ranks = adaptor.getRanks();
  if (ranks < 1)
    return emitOptionalError(location, "ranks is ", ranks,
                             ", expected at least 1");
  for (Value input : adaptor.getInputs()) {
    SmallVector<int64_t> shape{ranks};
    llvm::append_range(shape, tensorType(input).getShape());
    types.push_back(tensorType(input).clone(shape));
  }
  return checkTensors(location, adaptor.getInputs());
}

LogicalResult ReduceScatterOp::inferReturnTypes(MLIRContext *, Where location,
                                                Adaptor adaptor, Types &types) {
  std::optional<int64_t> ranks;
  if (failed(checkReduction(location, adaptor.getReduction(),
                            adaptor.getInputs())))
    return failure();
  for (Value input : adaptor.getInputs()) {
    RankedTensorType type = tensorType(input);
    if (type.getRank() == 0)
      return emitOptionalError(location, type,
                               " has no first dimension to divide");
    int64_t own = type.getDimSize(0);
    if (own == 0 || own != ranks.value_or(own))
      return emitOptionalError(location, "first dimensions are ",
                               ranks.value_or(own), " and ", own,
                               ", expected the number of ranks");
    ranks = own;
    types.push_back(type.clone(type.getShape().drop_front()));
  }
  return success();
}

LogicalResult BroadcastFromOp::inferReturnTypes(MLIRContext *, Where location,
                                                Adaptor adaptor, Types &types) {
  if (auto root = static_cast<int64_t>(adaptor.getRoot()); root < 0)
    return emitOptionalError(location, "rank is ", root,
                             ", expected 0 or more");
  llvm::append_range(types, adaptor.getInputs().getTypes());
  return checkTensors(location, adaptor.getInputs());
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Exchanges the gradients that there are: a result that nothing uses has none,
/// and has none on all ranks.
static Gradients exchanged(ValueRange g,
                           llvm::function_ref<Operation *(ValueRange)> make) {
  auto known = llvm::to_vector(
      llvm::make_filter_range(g, [](Value each) { return bool(each); }));
  Operation *exchange = known.empty() ? nullptr : make(known);
  Gradients gradients;
  unsigned next = 0;
  for (Value each : g)
    gradients.push_back(each ? exchange->getResult(next++) : Value());
  return gradients;
}

/// What ranks differentiate is the sum of their results, so a tensor that all
/// of them see has the sum of their gradients.
static Gradients sumOfRanks(ImplicitLocOpBuilder &b, ValueRange g) {
  return exchanged(g, [&](ValueRange known) {
    return AllReduceOp::create(b, RankReduction::sum, known);
  });
}

/// Gives the gradient of a maximum to the elements that are equal to it, in
/// equal parts, as torch.amax does.
static Value toLargest(ImplicitLocOpBuilder &b, Value x, Value largest,
                       Value g) {
  Value isLargest = castTo(b, CompareOp::create(b, Comparison::eq, x, largest),
                           elementType(g));
  Value count =
      AllReduceOp::create(b, RankReduction::sum, isLargest).getResult(0);
  return MulOp::create(b, isLargest, DivOp::create(b, g, count));
}

Gradients AllReduceOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  Gradients sums = sumOfRanks(b, g);
  if (getReduction() == RankReduction::max)
    for (auto [sum, x, largest] :
         llvm::zip_equal(sums, getInputs(), getOutputs()))
      if (sum)
        sum = toLargest(b, x, largest, sum);
  return sums;
}
Gradients AllGatherOp::buildGradients(ImplicitLocOpBuilder &b, ValueRange g) {
  return exchanged(g, [&](ValueRange known) {
    return ReduceScatterOp::create(b, RankReduction::sum, known);
  });
}
Gradients ReduceScatterOp::buildGradients(ImplicitLocOpBuilder &b,
                                          ValueRange g) {
  int64_t ranks = tensorType(getInputs().front()).getDimSize(0);
  auto gather = [&](ValueRange parts) {
    return AllGatherOp::create(b, parts, ranks);
  };
  Gradients all = exchanged(g, gather);
  if (getReduction() == RankReduction::max)
    for (auto [gradient, x, most] :
         llvm::zip_equal(all, getInputs(), gather(getOutputs()).getOutputs()))
      if (gradient)
        gradient = toLargest(b, x, most, gradient);
  return all;
}
Gradients BroadcastFromOp::buildGradients(ImplicitLocOpBuilder &b,
                                          ValueRange g) {
  auto count = RankedTensorType::get({}, b.getI64Type());
  Value isRoot = CompareOp::create(b, Comparison::eq, RankOp::create(b),
                                   splat(b, count, getRoot()));
  Gradients gradients = sumOfRanks(b, g);
  for (Value &gradient : gradients) {
    if (!gradient)
      continue;
    auto number = RankedTensorType::get({}, elementType(gradient));
    gradient = SelectOp::create(b, isRoot, gradient, splat(b, number, 0));
  }
  return gradients;
}

//===----------------------------------------------------------------------===//
// Samples, for one rank
//===----------------------------------------------------------------------===//

std::vector<OpSample> AllReduceOp::sampleInputs() {
  return {{{{"tensor<3xf64>"}, {"tensor<2x2xf64>"}},
           "mp.all_reduce sum %0, %1 : tensor<3xf64>, tensor<2x2xf64>"},
          {{{"tensor<2x3xf64>"}}, "mp.all_reduce max %0 : tensor<2x3xf64>"}};
}
std::vector<OpSample> AllGatherOp::sampleInputs() {
  return {{{{"tensor<3xf64>"}, {"tensor<2x2xf64>"}},
           "mp.all_gather %0, %1 ranks(1) : tensor<3xf64>, tensor<2x2xf64>"}};
}
std::vector<OpSample> ReduceScatterOp::sampleInputs() {
  return {
      {{{"tensor<1x3xf64>"}, {"tensor<1xf64>"}},
       "mp.reduce_scatter sum %0, %1 : tensor<1x3xf64>, tensor<1xf64>"},
      {{{"tensor<1x3xf64>"}}, "mp.reduce_scatter max %0 : tensor<1x3xf64>"}};
}
std::vector<OpSample> BroadcastFromOp::sampleInputs() {
  return {
      {{{"tensor<3xf64>"}}, "mp.broadcast_from %0 rank(0) : tensor<3xf64>"}};
}
