//===- Inline.cpp - calls become the ops that they call -------------------===//
#include "dialect/ops/Gradient.h"
#include "dialect/ops/LossScaling.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "passes/Passes.h"
#include "passes/analysis/RandomStreams.h"
#include "llvm/ADT/SetVector.h"

namespace mp {
#define GEN_PASS_DEF_INLINE
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Upstream's inliner, which also separates the streams of its copies.
struct Copier : InlinerInterface {
  Copier(MLIRContext *context, RandomStreams &streams)
      : InlinerInterface(context), streams(streams) {}
  void
  processInlinedBlocks(iterator_range<Region::iterator> inlinedBlocks) final {
    SmallVector<Operation *> copy;
    for (Block &block : inlinedBlocks)
      for (Operation &op : block)
        copy.push_back(&op);
    streams.separate(copy);
  }
  RandomStreams &streams;
};

struct Inline : mp::impl::InlineBase<Inline> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    RandomStreams streams(module);
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(visit(function, streams)))
        return signalPassFailure();
    for (func::FuncOp function : inlined)
      if (function.isPrivate() &&
          SymbolTable::symbolKnownUseEmpty(function, module))
        function.erase();
  }

private:
  /// The limit of functions of that size; a chain of calls makes each as large
  /// as all before it.
  static constexpr uint64_t kMostFunctions = 10;

  struct Frame {
    func::FuncOp function;
    Operation *call; ///< the call that is visited
  };

  /// Inlines the calls in a function, after those in its callees.
  LogicalResult visit(func::FuncOp function, RandomStreams &streams) {
    if (!finished.insert(function).second)
      return success();
    path.push_back({function, nullptr});
    SmallVector<func::CallOp> calls;
    WalkResult walked = function.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op))
        calls.push_back(call);
      if (!isa<func::CallIndirectOp>(op))
        return WalkResult::advance();
      op->emitOpError() << "calls what a value names, but calls are inlined: "
                           "name the function, func.call @f";
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return failure();
    SmallVector<func::FuncOp> callees;
    for (func::CallOp call : calls) {
      path.back().call = call;
      FailureOr<func::FuncOp> callee = lookup(call);
      if (failed(callee) || failed(visit(*callee, streams)))
        return failure();
      callees.push_back(*callee);
    }
    if (failed(checkSize(function, calls, callees)))
      return failure();
    streams.enter(function);
    Copier copier(&getContext(), streams);
    for (auto [call, callee] : llvm::zip_equal(calls, callees))
      if (failed(inlineInto(call, callee, copier)))
        return failure();
    path.pop_back();
    return success();
  }

  /// Fails if the sum of sizes is too large: functions that call others twice,
  /// level upon level, double with each.
  LogicalResult checkSize(func::FuncOp function,
                          MutableArrayRef<func::CallOp> calls,
                          ArrayRef<func::FuncOp> callees) {
    uint64_t total = countOps(function);
    for (auto [call, callee] : llvm::zip_equal(calls, callees)) {
      total += sizes.lookup(callee);
      if (total > kMostOps)
        return call.emitOpError()
               << "would give @" << function.getName() << " more than "
               << kMostOps << " ops, as calls are inlined";
    }
    sizes[function] = total;
    all += total;
    if (all > kMostOps * kMostFunctions)
      return function.emitOpError()
             << "and those before it have more than "
             << kMostOps * kMostFunctions << " ops, as calls are inlined";
    return success();
  }

  static uint64_t countOps(func::FuncOp function) {
    uint64_t count = 0;
    function.walk([&](Operation *) { ++count; });
    return count;
  }

  FailureOr<func::FuncOp> lookup(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee)
      return call.emitOpError() << "calls @" << call.getCallee()
                                << ", which is not a function of this module";
    if (callee.isExternal()) {
      auto diagnostic = call.emitOpError()
                        << "calls @" << call.getCallee()
                        << ", which has no body to inline: write its body";
      diagnostic.attachNote(callee.getLoc()) << "declared here";
      return diagnostic;
    }
    if (!callee.getBody().hasOneBlock()) {
      auto diagnostic = call.emitOpError()
                        << "calls @" << call.getCallee()
                        << ", which has several blocks: calls are inlined, "
                           "into functions of one";
      diagnostic.attachNote(callee.getLoc()) << "the function";
      return diagnostic;
    }
    auto *begin = llvm::find_if(
        path, [&](const Frame &frame) { return frame.function == callee; });
    if (begin != path.end())
      return recursion(call, ArrayRef(begin, path.end()));
    return callee;
  }

  /// Reports "@a calls @b, which calls @a".
  static LogicalResult recursion(func::CallOp call, ArrayRef<Frame> cycle) {
    auto diagnostic = call.emitOpError()
                      << "is recursive: @"
                      << func::FuncOp(cycle.front().function).getName();
    for (const Frame &frame : cycle)
      diagnostic << (&frame == cycle.begin() ? " calls @" : ", which calls @")
                 << cast<func::CallOp>(frame.call).getCallee();
    diagnostic << "; calls are inlined, so that no function can call itself";
    for (const Frame &frame : cycle.drop_back())
      diagnostic.attachNote(frame.call->getLoc())
          << "@" << cast<func::CallOp>(frame.call).getCallee()
          << " is called here";
    return diagnostic;
  }

  LogicalResult inlineInto(func::CallOp call, func::FuncOp callee,
                           Copier &copier) {
    separateSources(call, callee);
    if (failed(inlineCall(copier, InlinerConfig().getCloneCallback(), call,
                          callee, &callee.getBody())))
      return call.emitOpError()
             << "calls @" << call.getCallee()
             << ", which cannot be inlined: the dialect of an op in it does "
                "not allow that";
    inlined.insert(callee);
    call.erase();
    return success();
  }

  /// Gives each argument that the callee differentiates by a value of its own:
  /// the caller may pass a value twice, or one that depends on another
  /// argument.
  static void separateSources(func::CallOp call, func::FuncOp callee) {
    llvm::SmallSetVector<unsigned, 4> sources;
    callee.walk([&](GradientOp op) {
      for (Value source : op.getSources())
        if (auto argument = dyn_cast<BlockArgument>(source))
          sources.insert(argument.getArgNumber());
    });
    OpBuilder builder(call);
    for (unsigned number : sources)
      call->setOperand(number, ScaleGradientOp::create(
                                   builder, call.getLoc(),
                                   call.getOperand(number).getType(),
                                   call.getOperand(number), /*exponent=*/0));
  }

  SmallVector<Frame> path; ///< from a function to the one that is visited
  DenseSet<func::FuncOp> finished;
  DenseMap<func::FuncOp, uint64_t> sizes; ///< ops of the finished ones
  uint64_t all = 0;                       ///< the sum of these
  llvm::SetVector<func::FuncOp> inlined;
};
} // namespace
