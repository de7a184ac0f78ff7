//===- Variant.cpp - one function under one policy, or in f64 -------------===//
//
// All variants come from the same ops, numbered before any type changes, so
// that op N of one is op N of the others.
//
//===----------------------------------------------------------------------===//
#include "precision/compare/Variant.h"
#include "codegen/plan/Describe.h"
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "passes/Passes.h"
#include "passes/analysis/Recipe.h"
#include "passes/autocast/CastPlacement.h"
#include "passes/autocast/Policy.h"
#include "precision/compare/Work.h"
#include "runtime/data/Array.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace mp::precision {
int64_t numberOf(Operation *op) {
  auto number =
      op ? op->getAttrOfType<IntegerAttr>(kNumberAttr) : IntegerAttr();
  return number ? number.getInt() : 0;
}

//===----------------------------------------------------------------------===//
// Subject
//===----------------------------------------------------------------------===//

StringRef Subject::line(const Location &location) const {
  if (location.file != filename || location.line == 0)
    return "";
  StringRef rest = text;
  for (unsigned i = 1; i < location.line; ++i)
    rest = rest.split('\n').second;
  return rest.split('\n').first.trim();
}

static llvm::Error choose(const Subject &subject, StringRef name,
                          ArrayRef<std::string> names) {
  if (names.empty())
    return makeError("{0}: the module has no function", subject.filename);
  if (name.empty())
    return makeError("{0}: name one of {1} by --function", subject.filename,
                     llvm::join(names, ", "));
  return makeError("{0}: the module has no recipe or function '{1}'{2}",
                   subject.filename, name, suggest(name, names));
}

/// Makes one block of each function. Inlining must not remove a function that
/// is asked for by name.
static llvm::Error flatten(Work &work, StringRef asked) {
  if (auto function = work.module->lookupSymbol<func::FuncOp>(asked))
    function.setPublic();
  if (auto error = work.run(createInline()))
    return error;
  if (auto error = work.run(createNumberStreams()))
    return error;
  return work.run(createUnrollScans({/*all=*/true}));
}

static void describeRecipe(TrainOp recipe, Subject &subject) {
  subject.function = recipe.getFunction().str();
  subject.recipe = recipe.getEntry().str();
  if (auto autocast = recipe.getAutocastAttr()) {
    subject.dtype = typeName(autocast.getDtype());
    subject.policy = autocast.getPolicy().str();
  }
}

llvm::Expected<Subject> readSubject(StringRef filename, StringRef name,
                                    int64_t batch,
                                    std::function<void(StringRef)> onWarning) {
  auto buffer = readText(filename.str());
  if (!buffer)
    return buffer.takeError();
  Subject subject;
  subject.text = (*buffer)->getBuffer().str();
  subject.filename = filename.str();
  subject.batch = batch;
  subject.onWarning = std::move(onWarning);
  Work work(subject.text, filename, {});
  if (!work.module)
    return work.failed();
  if (auto error = flatten(work, name))
    return std::move(error);
  std::vector<std::string> names;
  SmallVector<TrainOp> recipes;
  for (auto recipe : work.module->getOps<TrainOp>()) {
    names.push_back(recipe.getEntry().str());
    if (name.empty() || recipe.getEntry() == name)
      recipes.push_back(recipe);
  }
  if (recipes.size() == 1) {
    describeRecipe(recipes.front(), subject);
    return subject;
  }
  std::vector<std::string> functions;
  for (auto function : work.module->getOps<func::FuncOp>())
    if (!function.isExternal())
      functions.push_back(function.getName().str());
  bool isOne = names.empty() && name.empty() && functions.size() == 1;
  if (isOne || (!name.empty() && llvm::is_contained(functions, name))) {
    subject.function = name.empty() ? functions.front() : name.str();
    return subject;
  }
  if (names.empty() || !name.empty())
    llvm::append_range(names, functions);
  return choose(subject, name, names);
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

/// Removes all but the compared function, and its recipe, from the module.
static func::FuncOp isolate(ModuleOp module, const Subject &subject) {
  for (auto recipe : llvm::to_vector(module.getOps<TrainOp>()))
    if (recipe.getEntry() != subject.recipe)
      recipe.erase();
  func::FuncOp found;
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (function.getName() == subject.function)
      found = function;
    else
      function.erase();
  return found;
}

llvm::Expected<func::FuncOp> prepare(Work &work, const Subject &subject) {
  if (!work.module)
    return work.failed();
  // This needs all functions: no two share random numbers.
  if (auto error = flatten(work, subject.function))
    return std::move(error);
  if (auto error = work.run(createNumberStreams()))
    return std::move(error);
  func::FuncOp function = isolate(*work.module, subject);
  if (auto error =
          work.run(createSetMode({"train"}), createSpecialize({subject.batch}),
                   createNumberOps()))
    return std::move(error);
  return function;
}

/// Returns the number of the op that makes a value, within a region or not.
static int64_t makerOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto region = dyn_cast_or_null<AutocastOp>(op)) {
    unsigned result = cast<OpResult>(value).getResultNumber();
    value = region.getBody().front().getTerminator()->getOperand(result);
    op = value.getDefiningOp();
  }
  return numberOf(op);
}

static void describeOps(func::FuncOp function, Variant &variant) {
  function.walk([&](Operation *op) {
    int64_t number = numberOf(op);
    if (!number)
      return;
    OpFacts &facts = variant.ops[number];
    facts.name = op->getName().getStringRef().str();
    if (auto read = dyn_cast<ReadOp>(op))
      facts.variable = read.getVariable().str();
    facts.source = locate(op->getLoc());
    for (Value operand : op->getOperands())
      if (int64_t from = makerOf(operand);
          from && !llvm::is_contained(facts.operands, from))
        facts.operands.push_back(from);
    facts.yieldsFloats = llvm::any_of(op->getResults(), isFloatTensor);
  });
}

/// Notes the types that results have now.
static void describeTypes(func::FuncOp function, Variant &variant) {
  function.walk([&](Operation *op) {
    auto found = variant.ops.find(numberOf(op));
    if (found == variant.ops.end())
      return;
    std::string &type = found->second.type;
    // The product's operands have fewer bits than their types.
    if (auto storage = op->getAttrOfType<StorageAttr>(kStorageAttr))
      type = typeName(storage.getForward());
    if (auto compute = op->getAttrOfType<TypeAttr>("compute"))
      type = typeName(compute.getValue());
    for (Value result : op->getResults())
      if (type.empty() && isFloatTensor(result))
        type = typeName(elementType(result));
  });
}

static CastFact readCast(const llvm::json::Object &cast) {
  return {static_cast<unsigned>(cast.getInteger("operand").value_or(0)),
          cast.getString("from").value_or("").str(),
          cast.getString("to").value_or("").str(),
          cast.getBoolean("shared").value_or(false)};
}

/// Reads mp-autocast's explanation.
static void readExplanation(const llvm::json::Object &function,
                            Variant &variant) {
  variant.casts += function.getInteger("casts").value_or(0);
  variant.castBytes += function.getInteger("cast_bytes").value_or(0);
  const llvm::json::Array *ops = function.getArray("ops");
  if (!ops)
    return;
  for (const llvm::json::Value &value : *ops) {
    const llvm::json::Object &op = *value.getAsObject();
    auto found = variant.ops.find(op.getInteger("number").value_or(0));
    if (found == variant.ops.end())
      continue;
    OpFacts &facts = found->second;
    facts.category = op.getString("category").value_or("").str();
    facts.why = op.getString("why").value_or("").str();
    facts.runsIn = op.getString("runs_in").value_or("").str();
    if (const llvm::json::Array *casts = op.getArray("casts"))
      for (const llvm::json::Value &cast : *casts)
        facts.casts.push_back(readCast(*cast.getAsObject()));
  }
}

static llvm::Error autocast(Work &work, func::FuncOp function,
                            const Setting &setting, Variant &variant) {
  SmallString<128> path;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("mp-diff", "json", path))
    return makeSystemError("create", "a temporary file", error.value());
  llvm::FileRemover remover(path);
  AutocastOptions options;
  options.dtype = setting.dtype;
  options.policy = setting.policy;
  options.explain = path.str().str();
  if (auto error = work.run(createAutocast(options)))
    return error;
  describeTypes(function, variant);
  auto buffer = readFile(path.str().str());
  if (!buffer)
    return buffer.takeError();
  auto explained = llvm::json::parse((*buffer)->getBuffer());
  if (!explained)
    return explained.takeError();
  if (const llvm::json::Array *functions = explained->getAsArray())
    for (const llvm::json::Value &one : *functions)
      readExplanation(*one.getAsObject(), variant);
  return llvm::Error::success();
}

/// Counts the casts that remain in training.
static llvm::Error countStepCasts(Work &work, const Subject &subject,
                                  Variant &variant) {
  OwningOpRef<ModuleOp> forward = work.module->clone();
  if (auto error = work.run(createAutodiff(), createPlaceCasts()))
    return error;
  if (auto step = work.module->lookupSymbol<func::FuncOp>(subject.recipe)) {
    CastCost cost = costOfCasts(step);
    variant.stepCasts = cost.casts;
    variant.stepCastBytes = cost.bytes;
  }
  work.module = std::move(forward);
  return llvm::Error::success();
}

/// Returns the setting's scale, else the first one of training, which scales an
/// f16 loss and refuses a bf16 one.
static double scaleOf(ModuleOp module, func::FuncOp function,
                      const Setting &setting) {
  if (setting.dtype != "f16")
    return 1;
  PipelineOptions pipeline;
  pipeline.precision = setting.precision;
  pipeline.scaler = setting.scaler;
  auto scaler = chooseScaler(pipeline);
  if (!scaler) {
    llvm::consumeError(scaler.takeError()); // compiling the step reports it
    return 1;
  }
  for (TrainOp recipe : module.getOps<TrainOp>())
    for (auto minimize : recipe.getBody().getOps<MinimizeOp>())
      if (auto type = dyn_cast<RankedTensorType>(
              function.getResultTypes()[minimize.getResult()]);
          type && type.getElementTypeBitWidth() < 32)
        return 1;
  if (setting.scale)
    return *setting.scale;
  for (TrainOp recipe : module.getOps<TrainOp>())
    return scalerFields(recipe, *scaler).initScale;
  return 1;
}

/// Makes the function return the requested values, and nothing else.
static llvm::Error expose(Work &work, func::FuncOp function,
                          const Subject &subject, Expose what,
                          Variant &variant) {
  ExposeValuesOptions options;
  options.gradients = !subject.recipe.empty();
  options.scale = variant.scale;
  if (what == Expose::ParameterGradients) {
    options.values = false;
    function.walk([](Operation *op) {
      if (!isa<ReadOp>(op))
        op->removeAttr(kNumberAttr);
    });
  }
  return work.run(createExposeValues(options));
}

llvm::Expected<Variant> makeVariant(const Subject &subject,
                                    const Setting &setting, Expose what) {
  Work work(subject.text, subject.filename, subject.onWarning);
  auto prepared = prepare(work, subject);
  if (!prepared)
    return prepared.takeError();
  func::FuncOp function = *prepared;
  Variant variant;
  describeOps(function, variant);
  if (setting.dtype == "f64" || setting.dtype == "f32") {
    AutocastOptions off;
    off.dtype = "f32";
    if (auto error = work.run(createAutocast(off)))
      return std::move(error);
    if (setting.dtype == "f64")
      if (auto error = work.run(createWidenFloats()))
        return std::move(error);
  } else {
    if (auto error = autocast(work, function, setting, variant))
      return std::move(error);
    variant.scale = scaleOf(*work.module, function, setting);
  }
  describeTypes(function, variant);
  if (!subject.recipe.empty() && setting.dtype != "f64" &&
      what == Expose::Everything)
    if (auto error = countStepCasts(work, subject, variant))
      return std::move(error);
  if (auto error = expose(work, function, subject, what, variant))
    return std::move(error);
  llvm::raw_string_ostream os(variant.module);
  work.module->print(os, OpPrintingFlags().enableDebugInfo());
  return variant;
}

} // namespace mp::precision
