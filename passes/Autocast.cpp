//===- Autocast.cpp - insert casts by a policy ----------------------------===//
//
// Which function is cast to what by which policy; before differentiation, so
// that backward runs in the types forward chose.
//
//===----------------------------------------------------------------------===//
#include "passes/AutocastEager.h"
#include "passes/AutocastPropagate.h"
#include "passes/Passes.h"
#include "passes/PolicyLookup.h"
#include "llvm/Support/FormatVariadic.h"

namespace mp {
#define GEN_PASS_DEF_AUTOCAST
#include "passes/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
struct Autocast : mp::impl::AutocastBase<Autocast> {
  using Base::Base;

  void runOnOperation() override {
    explained.clear();
    if (failed(castAll()))
      return signalPassFailure();
    if (!explain.empty() && failed(writeExplanation()))
      signalPassFailure();
  }

private:
  LogicalResult castAll() {
    if (!llvm::is_contained({"", "eager", "propagate"}, mode)) {
      getOperation().emitError()
          << "autocast mode is \"" << mode << "\", expected eager or propagate";
      return failure();
    }
    auto recipes = llvm::to_vector(getOperation().getOps<TrainOp>());
    if (recipes.empty() && !dtype.empty()) {
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (failed(run(function, dtype, policy)))
          return failure();
      return success();
    }
    for (TrainOp recipe : recipes) {
      auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          recipe, recipe.getFunctionAttr());
      auto [type, name] = choice(recipe);
      if (failed(run(function, type, name)))
        return failure();
    }
    return success();
  }

  LogicalResult writeExplanation() {
    std::error_code error;
    llvm::raw_fd_ostream os(explain, error);
    os << llvm::formatv("{0:2}", llvm::json::Value(std::move(explained)))
       << "\n";
    os.close();
    if (!error)
      error = os.error();
    os.clear_error();
    if (error)
      return getOperation().emitError()
             << "cannot write " << explain << ": " << error.message();
    return success();
  }

  /// What the options say, or else the recipe.
  std::pair<std::string, std::string> choice(TrainOp recipe) {
    std::string type = dtype, name = policy;
    if (auto wanted = recipe.getAutocastAttr()) {
      if (type.empty())
        llvm::raw_string_ostream(type) << wanted.getDtype();
      if (name.empty())
        name = wanted.getPolicy().str();
    }
    return {type, name};
  }

  LogicalResult run(func::FuncOp function, StringRef type, StringRef name) {
    if (type.empty() || type == "f32" || function.isExternal())
      return success();
    FloatType low =
        type == "f16"    ? FloatType(Float16Type::get(&getContext()))
        : type == "bf16" ? FloatType(BFloat16Type::get(&getContext()))
        : type == "tf32" ? FloatType(FloatTF32Type::get(&getContext()))
                         : FloatType();
    if (!low)
      return function.emitOpError() << "autocast to \"" << type
                                    << "\", expected f16, bf16, tf32 or f32";
    FailureOr<Policy> loaded =
        lookUpPolicy(function, name.empty() ? "torch" : name, low);
    if (failed(loaded))
      return failure();
    auto known = registeredNames(&getContext(), loaded->system());
    if (llvm::Error error = llvm::joinErrors(
            loaded->move(llvm::to_vector(allow), Category::Allow, known),
            loaded->move(llvm::to_vector(deny), Category::Deny, known)))
      return function.emitOpError() << toString(std::move(error));
    if (!function.getBody().hasOneBlock())
      return function.emitOpError()
             << "has control flow, in which casts are not decided";
    bool isEager = (mode.empty() ? loaded->mode() : mode) == "eager";
    AutocastReport report;
    LogicalResult result = isEager
                               ? castEagerly(function, *loaded, low, report)
                               : castByColour(function, *loaded, low, report);
    if (!explain.empty())
      explained.push_back(report.json(function, *loaded));
    function.walk([](Operation *op) { op->removeAttr(kAutocastAttr); });
    return result;
  }

  llvm::json::Array explained;
};
} // namespace
