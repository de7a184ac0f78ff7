//===- MasterWeights.cpp - f32 masters and working copies -----------------===//
#include "dialect/ops/Cast.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "passes/analysis/VariableTable.h"

namespace mp {
#define GEN_PASS_DEF_MASTERWEIGHTS
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
std::string derivedName(StringRef master, Type element) {
  std::string name = (master + ".").str();
  llvm::raw_string_ostream(name) << element;
  return name;
}

struct MasterWeights : mp::impl::MasterWeightsBase<MasterWeights> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    VariableTable table(module);
    variables = &table;
    if (auto old = module.lookupSymbol<func::FuncOp>(kDeriveEntry);
        old && !derivesOnly(old)) {
      old.emitOpError() << "has the name of the function that computes derived "
                           "variables: give it another one";
      return signalPassFailure();
    }
    auto withoutMaster = roundedStochastically();
    if (failed(withoutMaster))
      return signalPassFailure();
    promote(*withoutMaster);
    for (auto function : module.getOps<func::FuncOp>())
      if (function.getName() != kDeriveEntry)
        for (auto cast : llvm::to_vector(function.getOps<CastOp>()))
          if (auto read = cast.getInput().getDefiningOp<ReadOp>())
            derive(cast, read);
    updateDeriveFunction();
  }

private:
  static bool isLow(VariableOp variable) {
    Type element = variable.getTensorType().getElementType();
    return variable.getKind() == StateKind::parameter &&
           (element.isF16() || element.isBF16());
  }

  /// Returns the parameters of groups that do without masters.
  FailureOr<DenseSet<StringAttr>> roundedStochastically() {
    DenseSet<StringAttr> names;
    for (auto recipe : getOperation().getOps<TrainOp>()) {
      if (llvm::none_of(
              recipe.getBody().getOps<MinimizeOp>(),
              [](MinimizeOp group) { return group.getStochasticRounding(); }))
        continue;
      func::FuncOp function = lookupStep(recipe);
      if (!function)
        function =
            getOperation().lookupSymbol<func::FuncOp>(recipe.getFunctionAttr());
      auto assignment = assignParameters(recipe, function);
      if (failed(assignment))
        return failure();
      for (auto &[name, group] : *assignment)
        if (group.getStochasticRounding())
          names.insert(name);
    }
    return names;
  }

  /// Whether a function is one that this pass built.
  bool derivesOnly(func::FuncOp function) {
    if (function.isExternal() || function.getNumArguments() ||
        function.getNumResults())
      return false;
    return llvm::all_of(
        function.getBody().getOps<WriteOp>(), [this](WriteOp write) {
          auto variable = variables->lookup(write.getVariable());
          return variable && variable.getKind() == StateKind::derived;
        });
  }

  /// Makes the variable of each 16-bit parameter its f32 master; reads take the
  /// copy.
  void promote(const DenseSet<StringAttr> &withoutMaster) {
    DenseMap<StringAttr, VariableOp> copies;
    for (auto variable : llvm::to_vector(getOperation().getOps<VariableOp>())) {
      if (!isLow(variable) || withoutMaster.contains(variable.getSymNameAttr()))
        continue;
      auto low = variable.getTensorType();
      variable.setType(low.clone(Float32Type::get(&getContext())));
      copies[variable.getSymNameAttr()] =
          workingCopy(variable, low.getElementType());
    }
    if (copies.empty())
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](ReadOp read) {
        if (VariableOp copy = copies.lookup(read.getVariableAttr().getAttr()))
          read.setVariable(copy.getSymName());
      });
  }

  /// Replaces a cast of an f32 parameter: the parameter is its own master.
  void derive(CastOp cast, ReadOp read) {
    VariableOp master = variables->lookup(read.getVariable());
    Type element = cast.getType().getElementType();
    if (!master || master.getKind() != StateKind::parameter ||
        !(element.isF16() || element.isBF16()))
      return;
    VariableOp copy = workingCopy(master, element);
    OpBuilder builder(cast);
    auto low = ReadOp::create(builder, cast.getLoc(), copy.getTensorType(),
                              copy.getSymName());
    cast.replaceAllUsesWith(low.getResult());
    cast.erase();
    if (read.use_empty())
      read.erase();
  }

  VariableOp workingCopy(VariableOp master, Type element) {
    return variables->derive(master, element,
                             derivedName(master.getSymName(), element));
  }

  /// Makes @derive write every derived variable from its source.
  void updateDeriveFunction() {
    ModuleOp module = getOperation();
    func::FuncOp function = deriveFunction(module);
    DenseSet<StringRef> known;
    for (auto write : function.getBody().getOps<WriteOp>())
      known.insert(write.getVariable());
    ImplicitLocOpBuilder builder(module.getLoc(),
                                 function.getBody().front().getTerminator());
    for (auto variable : module.getOps<VariableOp>()) {
      if (!variable.getSource() || known.contains(variable.getSymName()))
        continue;
      builder.setLoc(variable.getLoc());
      auto source = variables->lookup(*variable.getSource());
      Value master =
          ReadOp::create(builder, source.getTensorType(), source.getSymName());
      Value copy =
          castTo(builder, master, variable.getTensorType().getElementType());
      WriteOp::create(builder, variable.getSymName(), copy, Value());
    }
  }

  VariableTable *variables = nullptr; ///< while the pass runs
};
} // namespace
