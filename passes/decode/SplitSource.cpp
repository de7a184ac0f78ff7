//===- SplitSource.cpp - what a text is written from, computed once -------===//
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "passes/analysis/BackwardOps.h"
#include "passes/analysis/VariableTable.h"
#include "program/Names.h"

namespace mp {
#define GEN_PASS_DEF_SPLITSOURCE
#include "passes/decode/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Which ops of a function belong to its text, and which to the source.
class Split {
public:
  Split(func::FuncOp function, VariableTable &variables)
      : function(function), variables(variables) {
    for (BlockArgument argument : function.getArguments())
      (isOfText(argument) ? text : source).insert(argument);
    for (Operation &op : body())
      visit(&op);
  }

  bool hasSource() { return !llvm::all_of(function.getArguments(), isOfText); }

  bool takesSeveral() {
    return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
      return function.getArgAttr(argument.getArgNumber(), kTextAttr) &&
             tensorType(argument).getDimSize(1) > 1;
    });
  }

  /// Whether loops over the tokens keep what they carry.
  bool hasState() {
    return llvm::any_of(body().getOps<ReadOp>(), [](ReadOp read) {
      return read.getVariable().starts_with(kStateVariable);
    });
  }

  /// Leaves the source's ops, which write what the text needs of them.
  LogicalResult keepSource() {
    Operation *terminator = body().getTerminator();
    ImplicitLocOpBuilder b(terminator->getLoc(), terminator);
    for (auto [i, value] : llvm::enumerate(inOrder()))
      WriteOp::create(b, variable(i, value), value, Value());
    terminator->setOperands({});
    if (failed(function.eraseResults(
            llvm::BitVector(function.getNumResults(), true))))
      return failure();
    eraseOps([&](Operation *op) { return textOps.contains(op); });
    return eraseArguments(isOfText);
  }

  /// Leaves the text's ops, which read what they need of the source.
  LogicalResult keepText() {
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), &body());
    for (auto [i, value] : llvm::enumerate(inOrder())) {
      Value read = ReadOp::create(b, value.getType(), variable(i, value));
      value.replaceUsesWithIf(read, [&](OpOperand &use) {
        return textOps.contains(body().findAncestorOpInBlock(*use.getOwner()));
      });
    }
    eraseOps([&](Operation *op) {
      return isa<WriteOp>(op) && !textOps.contains(op);
    });
    return eraseArguments(std::not_fn(isOfText));
  }

private:
  Block &body() { return function.getBody().front(); }

  /// The text and its position, which is the last argument.
  static bool isOfText(BlockArgument argument) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    unsigned place = argument.getArgNumber();
    return function.getArgAttr(place, kTextAttr) ||
           place + 1 == function.getNumArguments();
  }

  /// What mp-decode keeps of a text changes with each of its tokens.
  bool readsText(Operation *op) const {
    auto read = dyn_cast<ReadOp>(op);
    return read &&
           variables.lookup(read.getVariable()).getKind() == StateKind::window;
  }

  /// The border in the order of the source, which does not depend on how many
  /// tokens the text has.
  SmallVector<Value> inOrder() {
    SmallVector<Value> ordered;
    for (BlockArgument argument : function.getArguments())
      if (border.contains(argument))
        ordered.push_back(argument);
    for (Operation &op : body())
      for (Value result : op.getResults())
        if (border.contains(result))
          ordered.push_back(result);
    return ordered;
  }

  void visit(Operation *op) {
    SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    auto isIn = [](const DenseSet<Value> &values) {
      return [&](Value value) { return values.contains(value); };
    };
    bool isOfText = readsText(op) || op->hasTrait<OpTrait::IsTerminator>() ||
                    llvm::any_of(used, isIn(text));
    if (isOfText) {
      textOps.insert(op);
      for (Value value : used)
        if (source.contains(value))
          border.insert(value);
    }
    if (isOfText || llvm::any_of(used, isIn(source)))
      (isOfText ? text : source).insert(op->result_begin(), op->result_end());
  }

  std::string variable(size_t number, Value value) {
    std::string name = (kSourceVariable + Twine(number)).str();
    variables.create(function.getLoc(), name, tensorType(value),
                     StateKind::window, 0);
    return name;
  }

  /// Erases these ops, and those that nothing uses then.
  void eraseOps(llvm::function_ref<bool(Operation *)> isErased) {
    SmallVector<Operation *> erased;
    for (Operation &op : body().without_terminator())
      if (isErased(&op))
        erased.push_back(&op);
    for (Operation *op : llvm::reverse(erased))
      op->erase();
    eraseDead(function);
  }

  LogicalResult
  eraseArguments(llvm::function_ref<bool(BlockArgument)> isErased) {
    llvm::BitVector erased(function.getNumArguments());
    SmallVector<int64_t> kept;
    auto known = function->getAttrOfType<DenseI64ArrayAttr>(kArgumentsAttr);
    for (BlockArgument argument : function.getArguments()) {
      unsigned place = argument.getArgNumber();
      erased[place] = isErased(argument);
      if (!erased[place])
        kept.push_back(known ? known[place] : 0);
    }
    if (known)
      function->setAttr(kArgumentsAttr,
                        DenseI64ArrayAttr::get(function.getContext(), kept));
    return function.eraseArguments(erased);
  }

  func::FuncOp function;
  VariableTable &variables;
  DenseSet<Value> text, source; ///< values that depend on either
  DenseSet<Operation *> textOps;
  DenseSet<Value> border; ///< of the source, used by the text
};

struct SplitSource : mp::impl::SplitSourceBase<SplitSource> {
  using Base::Base;

  void runOnOperation() override {
    if (part != "text" && part != "source") {
      getOperation().emitError()
          << "unknown part '" << part << "', expected text or source";
      return signalPassFailure();
    }
    VariableTable variables(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kContextAttr) && failed(split(function, variables)))
        return signalPassFailure();
  }

private:
  LogicalResult split(func::FuncOp function, VariableTable &variables) {
    Split ops(function, variables);
    // Where casts are depends on sizes, and they are decided behind loops.
    if (ops.hasSource() && ops.takesSeveral() && ops.hasState())
      return function.emitOpError("has loops beside what its text is written "
                                  "from: it takes one token at a time");
    if (part == "text")
      return ops.hasSource() ? ops.keepText() : success();
    if (ops.hasSource())
      return ops.keepSource();
    return function.emitOpError("has no argument beside its text, so that "
                                "there is nothing to compute before it");
  }
};
} // namespace
