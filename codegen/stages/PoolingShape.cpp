//===- PoolingShape.cpp - pools, for any target ---------------------------===//
#include "codegen/stages/PoolingShape.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mp;

template <typename Op>
static Pool shapeOf(Op op, Pool::Loop loop, bool countsPadding = true) {
  auto from = tensorType(op->getOperand(0)), to = tensorType(op->getResult(0));
  bool isBackward = loop == Pool::Loop::MaxBack || loop == Pool::Loop::MeanBack;
  ArrayRef<int64_t> elements = middleOf(isBackward ? to : from),
                    places = middleOf(isBackward ? from : to);
  return {loop, to.getDimSize(0), to.getDimSize(3),
          *mp::makePool(std::nullopt, elements, places, poolListsOf(op)),
          countsPadding};
}

Pool mp::poolOf(Operation *op) {
  using Loop = Pool::Loop;
  return TypeSwitch<Operation *, Pool>(op)
      .Case<MaxPool2dOp, AdaptiveMaxPool2dOp>(
          [](auto pool) { return shapeOf(pool, Loop::Max); })
      .Case([](MaxPool2dIndexOp pool) { return shapeOf(pool, Loop::Index); })
      .Case([](MaxPool2dAtOp pool) { return shapeOf(pool, Loop::At); })
      .Case(
          [](MaxPool2dBackwardOp pool) { return shapeOf(pool, Loop::MaxBack); })
      .Case([](AvgPool2dOp pool) {
        return shapeOf(pool, Loop::Mean, !pool.getExcludePad());
      })
      .Case([](AdaptiveAvgPool2dOp pool) {
        return shapeOf(pool, Loop::Mean, /*countsPadding=*/false);
      })
      .Case([](AvgPool2dBackwardOp pool) {
        return shapeOf(pool, Loop::MeanBack, !pool.getExcludePad());
      });
}
