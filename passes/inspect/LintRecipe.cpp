//===- LintRecipe.cpp - a recipe's types, masters and gradients -----------===//
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/analysis/GradientPaths.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"
#include "passes/inspect/Lint.h"
#include <cmath>

using namespace mlir;
using namespace mp;

namespace {
class RecipeLint {
public:
  RecipeLint(TrainOp recipe, func::FuncOp function, LintFindings &findings)
      : recipe(recipe), function(function), findings(findings) {}

  LogicalResult run(bool hasMasterWeights) {
    auto assignment = assignParameters(recipe, function);
    if (failed(assignment))
      return failure();
    for (auto read : function.getBody().getOps<ReadOp>())
      if (MinimizeOp group =
              assignment->lookup(read.getVariableAttr().getAttr()))
        reads[group.getResult()][read.getVariableAttr().getAttr()].push_back(
            read.getResult());
    for (auto &[result, parameters] : reads)
      lintLoss(result, parameters);
    lintScaler();
    lintMasters(*assignment, hasMasterWeights);
    lintUnread();
    return success();
  }

private:
  using Reads = llvm::MapVector<StringAttr, SmallVector<Value>>;

  void lintLoss(unsigned result, const Reads &parameters) {
    Block &body = function.getBody().front();
    Value loss = body.getTerminator()->getOperand(result);
    if (!isFloatTensor(loss))
      return; // the recipe's verifier reports it
    GradientPaths paths(function, loss);
    SmallVector<Value> sources;
    for (const auto &[name, values] : parameters) {
      llvm::append_range(sources, values);
      if (llvm::none_of(values,
                        [&](Value value) { return paths.reaches(value); }))
        tellCut(name, values.front(), result, paths);
    }
    DenseSet<Value> active = dependents(sources, body);
    for (Operation &op : body)
      for (Value value : op.getResults())
        if (!half && active.contains(value) && paths.reaches(value) &&
            elementType(value).isF16())
          half = &op;
  }

  void tellCut(StringAttr name, Value read, unsigned result,
               GradientPaths &paths) {
    LintFindings::Finding finding{LintCheck::CutGradient,
                                  read.getLoc(),
                                  "parameter @" + name.str() +
                                      " is trained, but no gradient reaches it "
                                      "from result " +
                                      std::to_string(result) + " of @" +
                                      function.getName().str() + "; ",
                                  {}};
    auto cuts = paths.cutsBehind(read);
    finding.text += cuts.empty()
                        ? "use what is read in that result, or take the "
                          "parameter out of params"
                        : "let one pass, or take the parameter out of params";
    for (const auto &cut : cuts)
      finding.notes.push_back(
          {cut.op->getLoc(), "'" + cut.op->getName().getStringRef().str() +
                                 "' lets none pass: " + cut.why});
    findings.add(finding);
  }

  void lintScaler() {
    if (!half || recipe.getScaler())
      return;
    findings.add({LintCheck::UnscaledF16,
                  recipe.getLoc(),
                  kWithoutScaler.str(),
                  {{half->getLoc(), "the first f16 that a gradient passes"}}});
  }

  void lintMasters(ParameterAssignment &assignment, bool hasMasterWeights) {
    VariableTable variables(recipe->getParentOfType<ModuleOp>());
    for (auto &[name, group] : assignment) {
      VariableOp variable = variables.lookup(name);
      auto type =
          dyn_cast<FloatType>(variable.getTensorType().getElementType());
      bool isPromoted = type && hasMasterWeights && type.getWidth() == 16;
      if (!type || type.getWidth() > 16 || isPromoted ||
          group.getStochasticRounding())
        continue;
      int precision = APFloat::semanticsPrecision(type.getFloatSemantics());
      std::string text = "parameter @" + name.str() + " is " + typeName(type) +
                         " and has no f32 master: an update of less than 1/" +
                         numberText(std::ldexp(1, precision)) +
                         " of it is lost; ";
      text += type.getWidth() == 16
                  ? "run mp-master-weights, or round a bf16 parameter with "
                    "stochastic_rounding"
                  : "declare it f32, and cast it where it is used";
      findings.add({LintCheck::MasterWeight,
                    variable.getLoc(),
                    text,
                    {{group.getLoc(), "trained here"}}});
    }
  }

  /// Finds parameters that the patterns match and nothing reads.
  void lintUnread() {
    auto module = recipe->getParentOfType<ModuleOp>();
    DenseSet<StringAttr> read;
    module.walk(
        [&](ReadOp op) { read.insert(op.getVariableAttr().getAttr()); });
    for (auto variable : module.getOps<VariableOp>()) {
      if (variable.getKind() != StateKind::parameter ||
          read.contains(variable.getSymNameAttr()))
        continue;
      for (auto group : recipe.getBody().getOps<MinimizeOp>())
        if (claims(group, variable.getSymName()))
          findings.add({LintCheck::CutGradient,
                        variable.getLoc(),
                        "parameter @" + variable.getSymName().str() +
                            " is trained, but nothing reads it; read it, or "
                            "take it away",
                        {{group.getLoc(), "trained here"}}});
    }
  }

  TrainOp recipe;
  func::FuncOp function;
  LintFindings &findings;
  llvm::MapVector<unsigned, Reads> reads; ///< by result and parameter
  Operation *half = nullptr; ///< the first f16 op on a gradient's way
};
} // namespace

LogicalResult mp::lintRecipe(TrainOp recipe, func::FuncOp function,
                             bool hasMasterWeights, LintFindings &findings) {
  return RecipeLint(recipe, function, findings).run(hasMasterWeights);
}
