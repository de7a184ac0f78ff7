//===- FlagOverflow.cpp - where values stop being finite ------------------===//
#include "passes/Differentiate.h"
#include "passes/Passes.h"
#include "passes/Recipe.h"

namespace mp {
#define GEN_PASS_DEF_FLAGOVERFLOW
#include "passes/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct FlagOverflow : mp::impl::FlagOverflowBase<FlagOverflow> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.getName() == kDeriveFunction)
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitOpError() << "has control flow, whose values are not looked "
                                "at";
      return signalPassFailure();
    }
    broken.clear();
    dropWrites(function);
    dropResults(function);
    Block &body = function.getBody().front();
    auto originals = llvm::map_to_vector(body.without_terminator(),
                                         [](Operation &op) { return &op; });
    ImplicitLocOpBuilder b(function.getLoc(), body.getTerminator());
    SmallVector<Value> flags;
    std::vector<std::string> names;
    auto add = [&](Value flag, const std::string &name) {
      flags.push_back(flag);
      names.push_back(std::to_string(names.size()) + ": " + name);
    };
    for (BlockArgument argument : body.getArguments())
      if (Value flag = isBroken(b, argument))
        add(flag, "input '" + nameOf(function, argument) + "'");
    for (Operation *op : originals)
      if (Value flag = breaksIn(b, op))
        add(flag, describe(op));
    for (auto [flag, name] : llvm::zip_equal(flags, names))
      appendNamedResult(function, flag, name);
  }

private:
  /// The state is to stay as it is; window variables belong to no state.
  static void dropWrites(func::FuncOp function) {
    for (auto write : llvm::to_vector(function.getOps<WriteOp>())) {
      auto variable = lookupVariable(write, write.getVariableAttr());
      if (variable && variable.getKind() != StateKind::window)
        write.erase();
    }
  }

  static void dropResults(func::FuncOp function) {
    llvm::BitVector all(function.getNumResults(), true);
    (void)function.eraseResults(all);
    function.getBody().front().getTerminator()->eraseOperands(all);
  }

  /// Whether any element is not finite; null of what is no float.
  Value isBroken(ImplicitLocOpBuilder &b, Value value) {
    if (!isFloatTensor(value))
      return {};
    Value &known = broken[value];
    if (!known) {
      Value bad = NotOp::create(b, IsFiniteOp::create(b, value));
      auto dims =
          llvm::to_vector(llvm::seq<int64_t>(tensorType(value).getRank()));
      known = AnyOp::create(b, bad, dims, false);
    }
    return known;
  }

  /// Whether a value may be what it is: an infinity that is written as a
  /// constant is meant, and what stands in a window's variables was made by a
  /// micro-batch, or by a window before this one.
  static bool isExcused(Operation *op) {
    auto read = dyn_cast<ReadOp>(op);
    if (!read)
      return isa<ConstantOp>(op);
    auto variable = lookupVariable(op, read.getVariableAttr());
    return variable && variable.getKind() == StateKind::window;
  }

  /// Whether the op makes what is not finite from what is.
  Value breaksIn(ImplicitLocOpBuilder &b, Operation *op) {
    if (isExcused(op))
      return {};
    b.setLoc(op->getLoc());
    Value bad, before;
    auto either = [&](Value flag, Value other) {
      return flag && other ? Value(OrOp::create(b, flag, other))
                           : (flag ? flag : other);
    };
    for (Value result : op->getResults())
      bad = either(bad, isBroken(b, result));
    for (Value operand : op->getOperands())
      before = either(before, isBroken(b, operand));
    if (!bad || !before)
      return bad;
    return AndOp::create(b, bad, NotOp::create(b, before));
  }

  static std::string nameOf(func::FuncOp function, BlockArgument argument) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      kNameAttr);
    return name ? name.str() : std::to_string(argument.getArgNumber());
  }

  /// "mp.cast at net.mlir:4:8 (backward)"
  static std::string describe(Operation *op) {
    std::string text = op->getName().getStringRef().str();
    if (auto read = dyn_cast<ReadOp>(op))
      text = ("variable '" + read.getVariable() + "'").str();
    if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
      text += (" at " + place.getFilename().getValue() + ":" +
               Twine(place.getLine()) + ":" + Twine(place.getColumn()))
                  .str();
    if (isBackward(op->getLoc()))
      text += " (backward)";
    return text;
  }

  DenseMap<Value, Value> broken;
};
} // namespace
