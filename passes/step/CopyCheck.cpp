//===- CopyCheck.cpp - does a new master fit its 16-bit copy? -------------===//
#include "passes/step/CopyCheck.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/State.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"

using namespace mlir;
using namespace mp;

static SmallVector<int64_t> allDims(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank()));
}

/// Returns the largest of every measure over parameters: one list of values
/// each.
static SmallVector<Value> largest(ImplicitLocOpBuilder &b,
                                  ArrayRef<SmallVector<Value>> measures) {
  SmallVector<Value> totals(measures.front().size());
  for (ArrayRef<Value> own : measures)
    for (auto [total, measure] : llvm::zip_equal(totals, own))
      total =
          total ? Value(MaximumOp::create(b, total, measure)) : Value(measure);
  return totals;
}

namespace {
class CopyCheck {
public:
  CopyCheck(func::FuncOp step, ImplicitLocOpBuilder &b,
            const UpdatedGroup &group, StringRef name)
      : step(step), module(step->getParentOfType<ModuleOp>()), b(b),
        group(group) {
    for (const std::string &measure : group.optimizer.getMeasures())
      names.push_back((name + "." + measure).str());
  }

  SmallVector<WriteOp> run() {
    Value needed;
    SmallVector<Value> after;
    if (!names.empty()) {
      after = buildBounds();
      needed = isNeeded(after.front());
    }
    Value overflow;
    SmallVector<SmallVector<Value>> measured;
    for (UpdatedParameter updated : group.parameters) {
      b.setLoc(updated.variable.getLoc());
      for (Value copy : updated.copies) {
        Value bad = anyNotFinite(copy);
        // The right operand of an `and` is computed only if its left one is
        // set.
        bad = needed ? Value(AndOp::create(b, needed, bad)) : bad;
        overflow = overflow ? Value(OrOp::create(b, overflow, bad)) : bad;
      }
      if (needed)
        measured.push_back(
            measuredWhere(needed, updated.parameter, updated.slots, after));
    }
    addToSkipped(step, b, overflow, group.optimizerName);
    return needed ? keep(largest(b, measured)) : SmallVector<WriteOp>();
  }

private:
  /// The bounds that hold after the update.
  SmallVector<Value> buildBounds() {
    SmallVector<Value> before;
    for (const std::string &name : names) {
      createDerived(name);
      before.push_back(ReadOp::create(b, number(), name));
    }
    return group.optimizer.buildBounds(b, before, group.gradientNorm,
                                       group.learningRate, group.step);
  }

  /// Whether the bound leaves open that a copy is infinite, in a step that is
  /// not skipped anyway. Comparisons with NaN are false.
  Value isNeeded(Value bound) {
    double limit = APFloat::getLargest(APFloat::IEEEhalf()).convertToDouble();
    Value fits =
        CompareOp::create(b, Comparison::lt, bound, splat(b, number(), limit));
    Value proven =
        AndOp::create(b, fits, IsFiniteOp::create(b, group.gradientNorm));
    Value open = NotOp::create(b, proven);
    return group.skipped
               ? Value(AndOp::create(b, open, NotOp::create(b, group.skipped)))
               : open;
  }

  SmallVector<Value> measure(ImplicitLocOpBuilder &builder, Value parameter,
                             ValueRange slots) {
    SmallVector<Value> totals;
    for (Value each : group.optimizer.buildMeasures(builder, parameter, slots))
      totals.push_back(MaxOp::create(builder, each, allDims(each), false));
    return totals;
  }

  SmallVector<Value> measuredWhere(Value needed, Value parameter,
                                   ValueRange slots, ValueRange otherwise) {
    auto totals = measure(b, parameter, slots);
    for (auto [total, other] : llvm::zip_equal(totals, otherwise))
      total = SelectOp::create(b, needed, total, other);
    return totals;
  }

  SmallVector<WriteOp> keep(ValueRange bounds) {
    SmallVector<WriteOp> writes;
    for (auto [name, bound] : llvm::zip_equal(names, bounds))
      writes.push_back(WriteOp::create(b, name, bound, Value()));
    func::FuncOp derive = deriveFunction(module);
    ImplicitLocOpBuilder d(step.getLoc(),
                           derive.getBody().front().getTerminator());
    SmallVector<SmallVector<Value>> measured;
    for (UpdatedParameter updated : group.parameters) {
      auto type = updated.variable.getTensorType();
      Value parameter = ReadOp::create(d, type, updated.variable.getSymName());
      SmallVector<Value> slots;
      for (const std::string &slot : updated.slotNames)
        slots.push_back(ReadOp::create(d, type, slot));
      measured.push_back(measure(d, parameter, slots));
    }
    for (auto [name, bound] : llvm::zip_equal(names, largest(d, measured)))
      WriteOp::create(d, name, bound, Value());
    return writes;
  }

  Value anyNotFinite(Value x) {
    Value bad = NotOp::create(b, IsFiniteOp::create(b, x));
    return AnyOp::create(b, bad, allDims(bad), false);
  }

  RankedTensorType number() {
    return RankedTensorType::get({}, b.getF32Type());
  }
  void createDerived(StringRef name) {
    auto variable = VariableTable(module).create(b.getLoc(), name, number(),
                                                 StateKind::derived, 0);
    variable.removeInitAttr();
  }

  func::FuncOp step;
  ModuleOp module;
  ImplicitLocOpBuilder &b;
  const UpdatedGroup &group;
  SmallVector<std::string> names;
};
} // namespace

SmallVector<WriteOp> mp::checkCopies(func::FuncOp step,
                                     ImplicitLocOpBuilder &builder,
                                     const UpdatedGroup &group,
                                     StringRef name) {
  return CopyCheck(step, builder, group, name).run();
}
