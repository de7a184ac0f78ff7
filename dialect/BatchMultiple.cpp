//===- BatchMultiple.cpp - what a leading `?` stands for ------------------===//
#include "dialect/BatchMultiple.h"
#include "dialect/Mp.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <numeric>

using namespace mlir;
using namespace mp;

std::optional<BatchMultiple> BatchMultiple::inRowsOf(int64_t from,
                                                     int64_t to) const {
  int64_t all = std::gcd(times, to), each = std::gcd(from, to / all),
          own = std::gcd(from / each, per);
  auto more = llvm::checkedMul(times / all, from / each / own);
  auto fewer = llvm::checkedMul(per / own, to / all / each);
  if (!more || !fewer)
    return std::nullopt;
  return BatchMultiple{*more, *fewer};
}

std::optional<int64_t> BatchMultiple::rowsOf(int64_t batch) const {
  return batch % per ? std::nullopt : llvm::checkedMul(batch / per, times);
}

std::string BatchMultiple::str() const {
  if (*this == BatchMultiple())
    return "the batch";
  std::string number = std::to_string(times);
  if (per == 1)
    return number + " times the batch";
  return number + "/" + std::to_string(per) + " of the batch";
}

bool mp::hasBatch(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > 0 && tensor.isDynamicDim(0);
}

FailureOr<std::optional<BatchMultiple>>
mp::commonMultiple(Operation *op, ValueRange operands, MultipleOf multipleOf) {
  std::optional<BatchMultiple> common;
  Type first;
  bool isKnown = true;
  for (Value operand : operands) {
    if (!hasBatch(operand.getType()))
      continue;
    auto multiple = multipleOf(operand);
    if (!multiple) {
      isKnown = false;
    } else if (!common) {
      common = multiple;
      first = operand.getType();
    } else if (*multiple != *common) {
      return op->emitOpError()
             << "has operands whose '?' differ: " << common->str() << " in "
             << first << " vs " << multiple->str() << " in "
             << operand.getType();
    }
  }
  if (!common && isKnown)
    common = BatchMultiple();
  return common;
}

FailureOr<BatchMultiples> mp::inferBatchMultiples(Operation *op,
                                                  MultipleOf multipleOf) {
  if (auto batch = dyn_cast<BatchOpInterface>(op))
    return batch.inferMultiples(multipleOf);
  auto common = commonMultiple(op, op->getOperands(), multipleOf);
  if (failed(common))
    return failure();
  return BatchMultiples(op->getNumResults(), *common);
}
