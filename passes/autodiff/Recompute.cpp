//===- Recompute.cpp - compute values again rather than keep them ---------===//
#include "dialect/ops/Recompute.h"
#include "dialect/ops/LossScaling.h"
#include "dialect/ops/Recipe.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/SettingOptions.h"
#include "passes/autodiff/RecomputePlan.h"
#include "passes/autodiff/RecomputeSegments.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace mp {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/autodiff/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct Wish {
  enum { Marked, All, Budget } keep = Marked;
  int64_t budget = 0;
};

/// " (7.1 MiB)", rounded up so that it can be asked for; "" for fewer.
std::string inMiB(int64_t bytes) {
  double tenths = std::ceil(10 * std::ldexp(double(bytes), -20));
  return tenths < 10 ? "" : llvm::formatv(" ({0:f1} MiB)", tenths / 10).str();
}

/// Reads a number of bytes, with or without a unit.
std::optional<int64_t> parseSize(StringRef text) {
  int64_t unit = 1;
  static constexpr std::pair<StringLiteral, int> kUnits[] = {
      {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  for (auto [name, shift] : kUnits)
    if (text.consume_back(name))
      unit = int64_t(1) << shift;
  double number;
  if (text.trim().getAsDouble(number) || !(number >= 0) ||
      number * unit >= 0x1p62)
    return std::nullopt;
  return static_cast<int64_t>(number * unit);
}

FailureOr<Wish> parseWish(StringRef text, Operation *asker) {
  if (text.empty() || text == "marked")
    return Wish();
  if (text == "all")
    return Wish{Wish::All};
  if (auto size = parseSize(text))
    return Wish{Wish::Budget, *size};
  auto nearest = nearestNames(text, {"marked", "all"});
  return asker->emitError()
         << "\"" << text
         << "\" does not say what is kept for backward, expected marked, all "
            "or a size such as 64MiB"
         << (nearest.empty()
                 ? ""
                 : "; did you mean " + llvm::join(nearest, ", ") + "?");
}

struct Recompute : PassWithSettings<mp::impl::RecomputeBase<Recompute>,
                                    &RecipeSettings::recompute> {
  using PassWithSettings::PassWithSettings;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    keep = getSettings().recompute;
    auto given = parseWish(keep, module);
    if (failed(given))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.getOps<SeedOp>().empty() &&
          failed(recompute(function, *given)))
        return signalPassFailure();
    for (auto recipe : module.getOps<TrainOp>())
      if (failed(checkBuilt(recipe)))
        return signalPassFailure();
  }

private:
  TrainOp recipeOf(func::FuncOp function) {
    for (auto recipe : getOperation().getOps<TrainOp>())
      if (recipe.getEntry() == stepName(function))
        return recipe;
    return {};
  }

  LogicalResult checkBuilt(TrainOp recipe) {
    if ((keep.empty() && !recipe.getRecompute()) || lookupStep(recipe))
      return success();
    return recipe.emitOpError()
           << "has no step yet: run mp-autodiff before mp-recompute";
  }

  LogicalResult recompute(func::FuncOp function, Wish wish) {
    if (TrainOp recipe = recipeOf(function);
        recipe && keep.empty() && recipe.getRecompute()) {
      auto own = parseWish(*recipe.getRecompute(), recipe);
      if (failed(own))
        return failure();
      wish = *own;
    }
    SmallVector<Value> marked;
    for (auto mark : llvm::to_vector(function.getOps<CheckpointOp>())) {
      marked.push_back(mark.getInput());
      mark.replaceAllUsesWith(mark.getInput());
      mark.erase();
    }
    if (wish.keep == Wish::All || (wish.keep == Wish::Marked && marked.empty()))
      return success();
    auto barriers = function.getOps<RecomputeBarrierOp>();
    if (!barriers.empty()) {
      auto diagnostic = function.emitOpError()
                        << "has values that are computed again already";
      diagnostic.attachNote((*barriers.begin()).getLoc()) << "the first";
      return diagnostic;
    }
    if (wish.keep == Wish::Marked) {
      RecomputePlan plan(function);
      plan.apply(plan.between(marked));
      return success();
    }
    int64_t all = 0, least = 0;
    if (keepWithin(function, wish.budget, all, least))
      return success();
    int64_t unused = 0;
    if (recomputeSegments(function) &&
        keepWithin(function, wish.budget, unused, least))
      return success();
    return function.emitOpError()
           << "cannot keep " << wish.budget
           << " bytes or less for backward: it keeps " << all
           << ", and computing again reaches " << least << inMiB(least);
  }

  /// Computes again what exceeds a budget, or nothing if that is impossible.
  /// `all` are the bytes that are kept without that, `least` those with it.
  static bool keepWithin(func::FuncOp function, int64_t budget, int64_t &all,
                         int64_t &least) {
    RecomputePlan plan(function);
    auto choice = plan.within(budget);
    all = plan.costOf(RecomputePlan::Choice(choice.size())).bytes;
    least = plan.costOf(choice).bytes;
    if (least > budget)
      return false;
    plan.apply(choice);
    return true;
  }

  std::string keep; ///< what to keep; empty: what the recipe says
};
} // namespace

std::unique_ptr<Pass> mp::createRecompute(const RecipeSettings &settings) {
  return std::make_unique<Recompute>(settings);
}
