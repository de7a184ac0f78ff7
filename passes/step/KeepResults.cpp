//===- KeepResults.cpp - the part of a function that predicts -------------===//
#include "dialect/ops/Recipe.h"
#include "passes/Passes.h"
#include "passes/analysis/BackwardOps.h"
#include "passes/analysis/Recipe.h"
#include "support/Spelling.h"

namespace mp {
#define GEN_PASS_DEF_KEEPRESULTS
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

static StringRef resultName(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, kNameAttr);
  return name ? name.getValue() : StringRef();
}

/// Returns the results of these names. Without names, those that are not one
/// number.
static FailureOr<llvm::BitVector> chooseResults(func::FuncOp function,
                                                ArrayRef<std::string> names) {
  llvm::BitVector kept(function.getNumResults());
  std::vector<std::string> known;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && names.empty() && tensor.getRank())
      kept.set(i);
    if (StringRef name = resultName(function, i); !name.empty())
      known.push_back(name.str());
  }
  for (const std::string &name : names) {
    OpOperand *result = namedResult(function, name);
    if (!result)
      return function.emitError()
             << "function '" << function.getName() << "' returns no '" << name
             << "' to predict" << suggest(name, known)
             << "; \"value:%x\" stands for its value %x";
    kept.set(result->getOperandNumber());
  }
  if (kept.none())
    return function.emitError()
           << "function '" << function.getName()
           << "' returns single numbers only, which are not predicted: name "
              "what to predict, such as \"value:%logits\" for its value "
              "%logits";
  return kept;
}

/// Drops the other results, and the arguments that nothing needs any more.
static LogicalResult keep(func::FuncOp function, llvm::BitVector dropped) {
  function.getBody().front().getTerminator()->eraseOperands(dropped);
  if (failed(function.eraseResults(dropped)))
    return failure();
  eraseDead(function);
  auto known = function->getAttrOfType<DenseI64ArrayAttr>(kArgumentsAttr);
  llvm::BitVector unused(function.getNumArguments());
  SmallVector<int64_t> kept;
  for (BlockArgument argument : function.getArguments()) {
    unsigned place = argument.getArgNumber();
    unused[place] = argument.use_empty();
    if (!argument.use_empty())
      kept.push_back(known ? known[place] : place);
  }
  function->setAttr(kArgumentsAttr,
                    DenseI64ArrayAttr::get(function.getContext(), kept));
  return function.eraseArguments(unused);
}

/// Makes the other results zeros, and drops what only they needed.
static void blank(func::FuncOp function, const llvm::BitVector &dropped) {
  Operation *terminator = function.getBody().front().getTerminator();
  ImplicitLocOpBuilder b(terminator->getLoc(), terminator);
  for (unsigned i : dropped.set_bits())
    terminator->setOperand(i,
                           splat(b, tensorType(terminator->getOperand(i)), 0));
  eraseDead(function);
}

namespace {
struct KeepResults : mp::impl::KeepResultsBase<KeepResults> {
  using Base::Base;

  void runOnOperation() override {
    std::vector<std::string> names(results.begin(), results.end());
    for (TrainOp recipe : llvm::to_vector(getOperation().getOps<TrainOp>())) {
      auto function =
          getOperation().lookupSymbol<func::FuncOp>(recipe.getFunction());
      auto kept = chooseResults(function, names);
      if (failed(kept))
        return signalPassFailure();
      llvm::BitVector dropped = kept->flip();
      if (keepRecipe) {
        blank(function, dropped);
        continue;
      }
      // The recipe minimises results that are not returned any more.
      recipe.erase();
      if (failed(keep(function, dropped)))
        return signalPassFailure();
    }
  }
};
} // namespace
