//===- Autocast.cpp - insert casts by a policy ----------------------------===//
//
// Chooses the type and the policy of each function's casts. It runs before
// differentiation, so that backward has the types that forward chose.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Recipe.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"
#include "passes/autocast/AutocastEager.h"
#include "passes/autocast/AutocastPropagate.h"
#include "passes/autocast/PolicyLookup.h"
#include "support/Json.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

namespace mp {
#define GEN_PASS_DEF_AUTOCAST
#include "passes/autocast/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

/// On a function: its cast type and policy. A second run would find values that
/// the first has cast, and ops whose attribute and region are gone.
static constexpr StringLiteral kCastByAttr = "mp.precision";

namespace {
/// The type and the policy that a function is cast by.
struct Choice {
  std::string dtype, policy;

  std::string policyName() const { return policy.empty() ? "torch" : policy; }
  std::string text() const {
    return (dtype.empty() ? "regions" : dtype) + " by " + policyName();
  }
};

struct Autocast : mp::impl::AutocastBase<Autocast> {
  using Base::Base;

  void runOnOperation() override {
    explained.clear();
    if (failed(castAll()))
      return signalPassFailure();
    llvm::json::Value all(std::move(explained));
    if (record)
      getOperation()->setAttr(
          kCastsAttr,
          StringAttr::get(&getContext(), llvm::formatv("{0}", all)));
    if (explain.empty())
      return;
    if (llvm::Error error = writeJsonFile(explain, all)) {
      getOperation().emitError() << toString(std::move(error));
      signalPassFailure();
    }
  }

private:
  LogicalResult castAll() {
    rememberPlaces();
    if (!llvm::is_contained({"", "eager", "propagate"}, mode)) {
      getOperation().emitError()
          << "autocast mode is \"" << mode << "\", expected eager or propagate";
      return failure();
    }
    DenseMap<func::FuncOp, Choice> trained = chooseForRecipes();
    chooseForLoops(trained);
    // If there are recipes, functions that they do not train are cast by their
    // regions alone.
    bool isForAll = trained.empty() || dtype == "f32";
    Choice other{isForAll ? dtype.getValue() : "", policy};
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto found = trained.find(function);
      if (failed(run(function, found == trained.end() ? other : found->second)))
        return failure();
    }
    return success();
  }

  /// Collects the names of ops while every op is there, and at its place in the
  /// text.
  void rememberPlaces() {
    places.clear();
    warned.clear();
    getOperation().walk([this](AutocastOpInterface op) {
      for (const std::string &name : placeNames(op))
        places.insert(name);
    });
  }

  /// Warns of entries for one op that does not exist: the text has changed
  /// since, or is another. Evaluation has replaced ops, and does not warn.
  void warnOfMissing(Operation *from, const Policy &policy) {
    auto function = dyn_cast<func::FuncOp>(from);
    if (!function)
      function = from->getParentOfType<func::FuncOp>();
    if (auto mode = function->getAttrOfType<StringAttr>(kModeAttr);
        mode && mode.getValue() == "eval")
      return;
    for (const std::string &place : policy.listedPlaces())
      if (!places.contains(place) && warned.insert(place).second)
        function.emitWarning()
            << "policy " << policy.name() << " lists \"" << place
            << "\", and no such op is there: the line may have changed";
  }

  /// Chooses the casts of each trained function. Recipes that want the same one
  /// in different precisions get copies of it.
  DenseMap<func::FuncOp, Choice> chooseForRecipes() {
    SymbolTable symbols(getOperation());
    DenseMap<func::FuncOp, Choice> chosen;
    std::map<std::pair<std::string, std::string>, func::FuncOp> copies;
    for (TrainOp recipe : getOperation().getOps<TrainOp>()) {
      auto function = symbols.lookup<func::FuncOp>(recipe.getFunction());
      Choice choice = choiceOf(recipe);
      auto &copy = copies[{function.getName().str(), choice.text()}];
      if (!copy) {
        copy = chosen.contains(function) ? function.clone() : function;
        if (copy != function) {
          copy.setName((function.getName() + "." +
                        (choice.dtype.empty() ? "f32" : choice.dtype))
                           .str());
          symbols.insert(copy, std::next(function->getIterator()));
        }
        chosen[copy] = std::move(choice);
      }
      recipe.setFunction(copy.getName());
    }
    return chosen;
  }

  /// The body of a loop is cast as the function around the loop. If several are
  /// cast in their own ways, it gets copies.
  void chooseForLoops(DenseMap<func::FuncOp, Choice> &chosen) {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!isLoopBody(function) && chosen.contains(function))
        chooseForLoops(function, chosen.lookup(function), chosen);
  }

  void chooseForLoops(func::FuncOp function, const Choice &choice,
                      DenseMap<func::FuncOp, Choice> &chosen) {
    for (auto loop : function.getOps<LoopOp>()) {
      func::FuncOp body = loop.lookUpBody();
      auto [known, isNew] = chosen.try_emplace(body, choice);
      if (!isNew && known->second.text() != choice.text()) {
        body = copyLoopBody(body);
        loop.setBody(body.getName());
        chosen[body] = choice;
      }
      chooseForLoops(body, choice, chosen);
    }
  }

  /// Returns the options' choice, or else the recipe's.
  Choice choiceOf(TrainOp recipe) {
    Choice choice{dtype, policy};
    if (auto wanted = recipe.getAutocastAttr()) {
      if (choice.dtype.empty())
        choice.dtype = typeName(wanted.getDtype());
      if (choice.policy.empty())
        choice.policy = wanted.getPolicy().str();
    }
    return choice;
  }

  LogicalResult run(func::FuncOp function, const Choice &choice) {
    StringRef type = choice.dtype;
    if (function.isExternal())
      return success();
    if (type == "f32") {
      dissolveRegions(function);
      return success();
    }
    FloatType low =
        type == "f16"    ? FloatType(Float16Type::get(&getContext()))
        : type == "bf16" ? FloatType(BFloat16Type::get(&getContext()))
        : type == "tf32" ? FloatType(FloatTF32Type::get(&getContext()))
                         : FloatType();
    if (!low && !type.empty())
      return function.emitOpError() << "autocast to \"" << type
                                    << "\", expected f16, bf16, tf32 or f32";
    if (!low && function.getOps<AutocastOp>().empty())
      return success();
    auto mark = StringAttr::get(&getContext(), choice.text());
    if (auto done = function->getAttrOfType<StringAttr>(kCastByAttr)) {
      if (done == mark)
        return success();
      return function.emitOpError()
             << "is already cast to " << done.getValue()
             << ", and cannot be cast to " << mark.getValue()
             << " any more: start from the function without casts";
    }
    function->setAttr(kCastByAttr, mark);
    AutocastScope scope;
    scope.isEnabled = bool(low);
    scope.low = low;
    scope.policyName = choice.policyName();
    return cast(function, std::move(scope));
  }

  LogicalResult cast(func::FuncOp function, AutocastScope outermost) {
    auto find = [this](Operation *from, StringRef name, FloatType low) {
      return load(from, name, low);
    };
    if (outermost.isEnabled) {
      auto policy = load(function, outermost.policyName, outermost.low);
      if (failed(policy))
        return failure();
      outermost.policy = *policy;
    }
    if (!function.getBody().hasOneBlock())
      return function.emitOpError()
             << "has control flow, in which casts are not decided";
    auto scopes =
        AutocastScopes::dissolve(function, std::move(outermost), find);
    if (failed(scopes))
      return failure();
    LogicalResult result = success();
    auto declared = llvm::to_vector(function.getResultTypes());
    AutocastReport report;
    if (!scopes->castsNothing())
      result = isEager(scopes->outermost())
                   ? castEagerly(function, *scopes, report)
                   : castByColour(function, *scopes, report);
    if (record || !explain.empty())
      explained.push_back(
          report.json(function, scopes->outermost().policyName));
    function.walk([](Operation *op) { op->removeAttr(kAutocastAttr); });
    bool isBody = isLoopBody(function);
    if ((keepResults || isBody) && succeeded(result))
      castResults(function, declared);
    // A scale for 8 bits belongs to one op, and not to one in each round.
    if (isBody)
      function.walk([](Operation *op) { op->removeAttr(kStorageAttr); });
    return result;
  }

  /// Casts results to the declared types: callers of the function read these.
  static void castResults(func::FuncOp function, ArrayRef<Type> declared) {
    Operation *terminator = function.getBody().front().getTerminator();
    ImplicitLocOpBuilder builder(terminator->getLoc(), terminator);
    for (auto [operand, type] :
         llvm::zip_equal(terminator->getOpOperands(), declared))
      if (operand.get().getType() != type)
        operand.set(
            castTo(builder, operand.get(),
                   mlir::cast<RankedTensorType>(type).getElementType()));
    function.setType(FunctionType::get(function.getContext(),
                                       function.getArgumentTypes(), declared));
  }

  /// Whether the options' mode is eager, or else the mode of the policy's
  /// system.
  bool isEager(const AutocastScope &scope) const {
    if (!mode.empty())
      return mode == "eager";
    return !scope.policy || scope.policy->mode() == "eager";
  }

  /// Loads the policy of that name, with the options' lists added.
  FailureOr<std::shared_ptr<const Policy>> load(Operation *from, StringRef name,
                                                FloatType low) {
    FailureOr<Policy> loaded = lookUpPolicy(from, name, low);
    if (failed(loaded))
      return failure();
    auto known = knownNames(&getContext(), loaded->system());
    if (llvm::Error error = llvm::joinErrors(
            loaded->move(llvm::to_vector(allow), Category::Allow, known),
            loaded->move(llvm::to_vector(deny), Category::Deny, known)))
      return from->emitOpError() << toString(std::move(error));
    warnOfMissing(from, *loaded);
    return std::make_shared<const Policy>(std::move(*loaded));
  }

  llvm::json::Array explained;
  llvm::StringSet<> places; ///< names of single ops of the module
  llvm::StringSet<> warned;
};
} // namespace
