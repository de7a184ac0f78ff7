//===- Recipe.cpp - recipes and their functions ---------------------------===//
#include "passes/analysis/Recipe.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/LossScaler.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/analysis/VariableTable.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Parameter groups
//===----------------------------------------------------------------------===//

/// Returns the parameters that the function reads, themselves or as a working
/// copy, in the order of their declaration. For a step that applies gathered
/// gradients, the function that takes the micro-batches is asked.
static std::vector<std::string> readParameters(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  VariableTable variables(module);
  llvm::StringSet<> read;
  auto visit = [&](ReadOp op) {
    read.insert(op.getVariable());
    if (auto variable = variables.lookup(op.getVariable());
        variable && variable.getSource())
      read.insert(*variable.getSource());
  };
  function.walk(visit);
  if (func::FuncOp gathering = lookupAccumulate(function))
    gathering.walk(visit);
  std::vector<std::string> names;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getKind() == StateKind::parameter &&
        read.contains(variable.getSymName()))
      names.push_back(variable.getSymName().str());
  return names;
}

/// Fails if a pattern of a group is invalid, or matches no name.
static LogicalResult checkPattern(MinimizeOp minimize, StringRef text,
                                  ArrayRef<std::string> names) {
  text.consume_front("!");
  auto pattern = llvm::GlobPattern::create(text);
  if (!pattern)
    return minimize.emitOpError()
           << "pattern \"" << text << "\": " << toString(pattern.takeError());
  if (llvm::any_of(
          names, [&](const std::string &name) { return pattern->match(name); }))
    return success();
  auto nearest = nearestNames(text, names);
  return minimize.emitOpError()
         << "pattern \"" << text << "\" matches no parameter"
         << (nearest.empty()
                 ? ""
                 : "; did you mean " + llvm::join(nearest, ", ") + "?");
}

bool mp::claims(MinimizeOp group, StringRef name) {
  bool isChosen = false;
  for (Attribute attribute : group.getParams()) {
    StringRef text = cast<StringAttr>(attribute).getValue();
    bool takesAway = text.consume_front("!");
    auto pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      llvm::consumeError(pattern.takeError());
    else if (pattern->match(name))
      isChosen = !takesAway;
  }
  return isChosen;
}

FailureOr<ParameterAssignment> mp::assignParameters(TrainOp recipe,
                                                    func::FuncOp function) {
  auto names = readParameters(function);
  auto groups = llvm::to_vector(recipe.getBody().getOps<MinimizeOp>());
  DenseMap<StringAttr, MinimizeOp> owner;
  for (MinimizeOp minimize : groups) {
    for (Attribute pattern : minimize.getParams())
      if (failed(checkPattern(minimize, cast<StringAttr>(pattern).getValue(),
                              names)))
        return failure();
    for (const std::string &text : names) {
      if (!claims(minimize, text))
        continue;
      auto name = StringAttr::get(recipe.getContext(), text);
      if (MinimizeOp other = owner.lookup(name)) {
        auto diagnostic = minimize.emitOpError()
                          << "claims @" << text << ", which another group has";
        diagnostic.attachNote(other.getLoc()) << "the other group";
        return diagnostic;
      }
      owner[name] = minimize;
    }
  }
  ParameterAssignment assignment;
  for (const std::string &name : names)
    if (auto minimize =
            owner.lookup(StringAttr::get(recipe.getContext(), name)))
      assignment[StringAttr::get(recipe.getContext(), name)] = minimize;
  return assignment;
}

SmallVector<OptimizerGroups, 1> mp::optimizersOf(TrainOp recipe) {
  // Optimizers without a name differ by this.
  using Kind = std::pair<int64_t, TypeID>;
  SmallVector<std::pair<std::optional<Kind>, OptimizerGroups>> known;
  for (auto group : recipe.getBody().getOps<MinimizeOp>()) {
    auto name = group.getOptimizerName();
    Kind kind(group.getResult(), group.getOptimizer().getTypeID());
    auto *same = llvm::find_if(known, [&](auto &other) {
      return name ? !other.first && other.second.name == *name
                  : other.first == kind;
    });
    if (same == known.end()) {
      std::string given = name ? name->str() : std::to_string(known.size());
      known.push_back({name ? std::nullopt : std::optional(kind), {given, {}}});
      same = &known.back();
    }
    same->second.groups.push_back(group);
  }
  SmallVector<OptimizerGroups, 1> optimizers;
  for (auto &[kind, optimizer] : known)
    optimizers.push_back(std::move(optimizer));
  return optimizers;
}

//===----------------------------------------------------------------------===//
// Loss scaler
//===----------------------------------------------------------------------===//

static ScalerOp ownScaler(TrainOp recipe) {
  return recipe.getScaler() ? SymbolTable::lookupNearestSymbolFrom<ScalerOp>(
                                  recipe, recipe.getScalerAttr())
                            : ScalerOp();
}

LogicalResult mp::checkScaler(ModuleOp module, const ScalerChoice &choice) {
  for (StringRef preset : {choice.scaler, choice.defaultScaler}) {
    if (preset.empty())
      continue;
    if (auto fields = parseScaler(preset); !fields)
      return module.emitError() << llvm::toString(fields.takeError());
  }
  return success();
}

std::string mp::scalerPreset(TrainOp recipe, const ScalerChoice &choice) {
  if (!choice.scaler.empty())
    return choice.scaler;
  ScalerOp own = ownScaler(recipe);
  if (!own)
    return choice.defaultScaler.empty() ? "none" : choice.defaultScaler;
  return own.getFields().mode == ScalerFields::Mode::None
             ? "none"
             : own.getPreset().str();
}

ScalerFields mp::scalerFields(TrainOp recipe, const ScalerChoice &choice) {
  std::string preset = scalerPreset(recipe, choice);
  if (ScalerOp own = ownScaler(recipe);
      own && own.getEnabled() && own.getPreset() == preset)
    return own.getFields();
  return llvm::cantFail(parseScaler(preset));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

func::FuncOp mp::lookupStep(TrainOp recipe) {
  auto step = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      recipe, recipe.getEntryAttr());
  return step && step.getBody().hasOneBlock() ? step : func::FuncOp();
}

std::string mp::accumulateName(StringRef step) {
  return (step + ".accumulate").str();
}

func::FuncOp mp::lookupAccumulate(func::FuncOp step) {
  if (phaseOf(step) != kApplyEntry)
    return {};
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      step, StringAttr::get(step.getContext(), accumulateName(step.getName())));
}

StringRef mp::stepName(func::FuncOp function) {
  StringRef name = function.getName();
  if (phaseOf(function) == kAccumulateEntry)
    name.consume_back(accumulateName(""));
  return name;
}

VariableOp mp::lookupMicroBatch(func::FuncOp function) {
  if (phaseOf(function) != kAccumulateEntry)
    return {};
  std::string name = (stepName(function) + "." + kMicroVariable).str();
  return lookupVariable(function,
                        FlatSymbolRefAttr::get(function.getContext(), name));
}

StringRef mp::phaseOf(func::FuncOp function) {
  auto phase = function->getAttrOfType<StringAttr>(kPhaseAttr);
  return phase ? phase.getValue() : "";
}

void mp::appendResults(func::FuncOp function, ArrayRef<Value> values,
                       ArrayRef<NamedAttribute> attributes) {
  SmallVector<unsigned> places(values.size(), function.getNumResults());
  auto dictionaries = llvm::map_to_vector(attributes, [&](NamedAttribute one) {
    return DictionaryAttr::get(function.getContext(), {one});
  });
  (void)function.insertResults(places, ValueRange(values).getTypes(),
                               dictionaries);
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), values);
}

void mp::appendNamedResult(func::FuncOp function, Value value, StringRef name) {
  Builder builder(function.getContext());
  appendResults(function, value,
                builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)));
}

OpOperand *mp::namedResult(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto known = function.getResultAttrOfType<StringAttr>(i, kNameAttr);
        known && known.getValue() == name)
      return &function.getBody().front().getTerminator()->getOpOperand(i);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

std::string mp::withOptimizer(StringRef first, StringRef optimizer) {
  return (optimizer.empty() ? first : first + "." + optimizer).str();
}

SmallVector<SkippedFlag, 1> mp::skippedFlags(func::FuncOp function) {
  SmallVector<SkippedFlag, 1> flags;
  Operation *terminator = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto named = function.getResultAttrOfType<StringAttr>(i, kNameAttr))
      if (StringRef name = named.getValue();
          name.consume_front(kSkippedResult) &&
          (name.empty() || name.consume_front(".")))
        flags.push_back({name, &terminator->getOpOperand(i)});
  return flags;
}

OpOperand *mp::skippedFlag(func::FuncOp function, StringRef optimizer) {
  return namedResult(function, withOptimizer(kSkippedResult, optimizer));
}

void mp::addToSkipped(func::FuncOp function, ImplicitLocOpBuilder &builder,
                      Value flag, StringRef optimizer) {
  auto add = [&](StringRef of) {
    if (OpOperand *known = skippedFlag(function, of))
      return known->set(OrOp::create(builder, known->get(), flag));
    appendNamedResult(function, flag, withOptimizer(kSkippedResult, of));
  };
  add("");
  if (!optimizer.empty())
    add(optimizer);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

func::FuncOp mp::deriveFunction(ModuleOp module) {
  if (auto known = module.lookupSymbol<func::FuncOp>(kDeriveEntry))
    return known;
  auto builder =
      ImplicitLocOpBuilder::atBlockEnd(module.getLoc(), module.getBody());
  auto function = func::FuncOp::create(builder, kDeriveEntry,
                                       builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  func::ReturnOp::create(builder);
  return function;
}
