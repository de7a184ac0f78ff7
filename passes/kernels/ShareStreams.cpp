//===- ShareStreams.cpp - streams as operands of kernels ------------------===//
//
// The stream of a random op is a number in its kernel, by which the kernels of
// equal layers differ. Here kernels read it as they read the seed.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "passes/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace mp {
#define GEN_PASS_DEF_SHARESTREAMS
#include "passes/kernels/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct ShareStreams : mp::impl::ShareStreamsBase<ShareStreams> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    std::map<uint64_t, SmallVector<RandomOpInterface>> byStream;
    for (KernelOp kernel : function.getOps<KernelOp>())
      kernel.getBody().walk([&](RandomOpInterface op) {
        if (drawsByStreamAlone(op))
          byStream[*op.getStream()].push_back(op);
      });
    // A single stream tells no kernels apart.
    if (byStream.size() < 2)
      return;
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(),
                                                &function.getBody().front());
    for (auto &[stream, ops] : byStream) {
      auto type = tensorType(ops.front().getKeyMutable()[0].get());
      Value number = splat(b, type, double(stream));
      DenseMap<KernelOp, Value> arguments;
      for (RandomOpInterface op : ops)
        giveStream(op, number, arguments);
    }
  }

private:
  /// Whether an op has a stream and a key without a time step. The time steps
  /// of a loop share its kernels already.
  static bool drawsByStreamAlone(RandomOpInterface op) {
    size_t parts = op.getKeyMutable().size();
    return op.getStream() && (parts == 2 || parts == 3);
  }

  /// Makes `number` the last part of the key of `op`, as an argument of its
  /// kernel, of which there is one for each kernel.
  static void giveStream(RandomOpInterface op, Value number,
                         DenseMap<KernelOp, Value> &arguments) {
    auto kernel = op->getParentOfType<KernelOp>();
    Value &argument = arguments[kernel];
    if (!argument) {
      kernel.getInputsMutable().append(number);
      argument = kernel.getBody().addArgument(number.getType(), op->getLoc());
    }
    SmallVector<Value> key(op.getKeyMutable().getAsOperandRange());
    ImplicitLocOpBuilder b(op->getLoc(), op);
    while (key.size() < 4) // no micro-batch, no time step
      key.push_back(splat(b, tensorType(number), 0));
    key.push_back(argument);
    op.getKeyMutable().assign(key);
  }
};
} // namespace
