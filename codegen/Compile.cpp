//===- Compile.cpp - from a module's text to a Program --------------------===//
#include "codegen/Compile.h"
#include "codegen/Backend.h"
#include "codegen/Diagnostics.h"
#include "codegen/KernelModels.h"
#include "codegen/Outputs.h"
#include "codegen/Plugins.h"
#include "codegen/Reproducer.h"
#include "codegen/SameKernels.h"
#include "codegen/ShapeCheck.h"
#include "codegen/plan/Describe.h"
#include "codegen/plan/DescribeGraph.h"
#include "codegen/plan/EntryPlan.h"
#include "codegen/plan/Invariants.h"
#include "codegen/stages/SplitEpilogues.h"
#include "dialect/Dialects.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Recipe.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"
#include "passes/analysis/Recipe.h"
#include "program/ModuleText.h"
#include "support/SignalStack.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace mp;

namespace {
/// One compilation, from text to Program. Members that fail have emitted a
/// diagnostic.
class Compilation {
public:
  Compilation(const CompileOptions &options, KernelSink *sink)
      : options(options), sink(sink), context(makeRegistry()) {
    context.loadAllAvailableDialects();
  }

  llvm::Expected<Program> run(StringRef text) {
    if (llvm::Error error = checkModuleText(text, options.filename))
      return error;
    if (llvm::Error error = loadPlugins())
      return error;
    auto created = createBackend(options, context);
    if (!created)
      return created.takeError();
    backend = std::move(*created);
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(text, options.filename), {});
    DiagnosticText diagnostics(context, sources, options.onWarning);
    llvm::Error error = build();
    if (!error)
      return std::move(builder.program);
    std::string located = diagnostics.take();
    std::string other = toString(std::move(error));
    return llvm::createStringError(located.empty() ? other : located);
  }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    registerKernelModels(registry);
    return registry;
  }

  /// Adds the dialects of plugins to the context.
  llvm::Error loadPlugins() {
    PassRegistryAccess access;
    if (llvm::Error error = access.load(options.plugins))
      return error;
    DialectRegistry registry;
    access.registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    return llvm::Error::success();
  }

  /// The diagnostics tell the cause.
  static llvm::Error failed() {
    return llvm::createStringError("compilation failed");
  }

  llvm::Error build() {
    ValueNames names;
    module = timed("parse", [&] {
      bool keepsNames = llvm::any_of(requested(), [](StringRef output) {
        return output.starts_with(kValueOutput);
      });
      return names.parse(sources, &context, keepsNames);
    });
    if (!module)
      return failed();
    if (auto error = checkOutputs())
      return error;
    if (mlir::failed(refuseLoops()) || mlir::failed(overrideRecipe()))
      return failed();
    Program &program = builder.program;
    program.module = module->getName().value_or("module").str();
    backend->describe(program);
    program.data = describeData(*module);
    if (options.goal == Goal::Inspect) {
      for (auto recipe : module->getOps<TrainOp>())
        if (options.function.empty() || options.function == recipe.getEntry()) {
          program.accumulate = microBatchesOf(recipe);
          chooseScalerOf(recipe);
        }
      describeState();
      return llvm::Error::success();
    }
    if (auto recipe = findRecipe()) {
      if (options.goal == Goal::Train &&
          mlir::failed(describeAsWritten(recipe)))
        return failed();
      if (auto function =
              module->lookupSymbol<func::FuncOp>(recipe.getFunction()))
        if (mlir::failed(returnValues(function, requested(), names)))
          return failed();
    }
    // A function that is asked for by name must survive inlining into its
    // callers.
    if (options.goal == Goal::Run)
      if (auto asked = module->lookupSymbol<func::FuncOp>(options.function))
        asked.setPublic();
    if (mlir::failed(inlineAndNumber(*module)))
      return failed();
    auto function = select();
    if (!function)
      return function.takeError();
    if (mlir::failed(checkShapes(*module, options.batch)))
      return failed();
    // Without a batch, each argument has the shape that it says.
    if (options.goal != Goal::Run && options.batch &&
        mlir::failed(checkBatch(*function, options.batch)))
      return failed();
    inputs = describeInputs(*function);
    if (auto error = runPasses())
      return error;
    describeState();
    return emitEntries();
  }

  /// Writes the fields that the options set into the recipes, which are read
  /// before the passes run.
  LogicalResult overrideRecipe() {
    if (options.set.empty())
      return success();
    PassManager overriding(&context);
    overriding.addPass(createOverrideRecipe(options));
    return run(overriding, *module);
  }

  /// Inlines calls and numbers the streams of random ops. This needs all
  /// functions: no two of them share random numbers. Decoding takes scans as
  /// they are.
  LogicalResult inlineAndNumber(ModuleOp which) {
    PassManager numbering(&context);
    numbering.addPass(createInline());
    numbering.addPass(createNumberStreams());
    if (!writesTexts())
      numbering.addPass(createUnrollScans());
    return run(numbering, which);
  }

  /// Describes the graph without the values that the options return beside it.
  /// Whether it is written in one function or in several makes no difference.
  LogicalResult describeAsWritten(TrainOp recipe) {
    OwningOpRef<ModuleOp> copy = module->clone();
    if (mlir::failed(inlineAndNumber(*copy)))
      return failure();
    for (auto each : copy->getOps<TrainOp>())
      if (each.getEntry() == recipe.getEntry())
        builder.program.graph = describeGraph(each, options.policy);
    return success();
  }

  void describeState() {
    builder.program.variables = describeVariables(*module);
    for (auto [index, variable] : llvm::enumerate(builder.program.variables))
      builder.variables[variable.name] = index;
  }

  bool writesTexts() const {
    return options.goal == Goal::Decode || options.goal == Goal::Encode;
  }

  /// The values that are to be returned beside the function's results.
  llvm::ArrayRef<std::string> requested() const {
    if (options.goal == Goal::Train)
      return options.outputs;
    if (options.goal == Goal::Predict || writesTexts())
      return options.predictions;
    return {};
  }

  /// The choice of a function, and what is inlined, know scans alone.
  LogicalResult refuseLoops() {
    WalkResult walked = module->walk([](LoopOp loop) {
      loop.emitOpError("cannot be compiled as it is written: write the mp.scan "
                       "that mp-outline-loops makes it of");
      return WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }

  llvm::Error checkOutputs() const {
    for (StringRef output : options.outputs)
      if (!output.starts_with(kGradientOutput) &&
          !output.starts_with(kValueOutput))
        return llvm::createStringError(
            options.filename + ": cannot return '" + output +
            "': an output is \"grad:PARAMETER\" or \"value:%NAME\"; the "
            "function's results are returned anyway");
    return llvm::Error::success();
  }

  /// The recipe that is compiled; null if the choice is an error, which
  /// `selectRecipe` reports.
  TrainOp findRecipe() {
    TrainOp found;
    for (auto recipe : module->getOps<TrainOp>()) {
      if (!options.function.empty() && recipe.getEntry() != options.function)
        continue;
      if (found)
        return {};
      found = recipe;
    }
    return found;
  }

  //===--------------------------------------------------------------------===//
  // Selection
  //===--------------------------------------------------------------------===//

  /// The function to compile; drops the others, and recipes not asked for.
  llvm::Expected<func::FuncOp> select() {
    auto function =
        options.goal == Goal::Run ? selectFunction() : selectRecipe();
    if (!function)
      return function;
    if (function->isExternal())
      return function->emitError() << "has no body to compile", failed();
    chosen = function->getName().str();
    written = locate(function->getLoc());
    for (auto other : llvm::to_vector(module->getOps<func::FuncOp>()))
      if (other != *function)
        other.erase();
    return function;
  }

  llvm::Expected<func::FuncOp> selectFunction() {
    for (auto recipe : llvm::to_vector(module->getOps<TrainOp>()))
      recipe.erase();
    SmallVector<func::FuncOp> found;
    std::vector<std::string> names;
    for (auto function : module->getOps<func::FuncOp>()) {
      names.push_back(function.getName().str());
      if (options.function.empty() || function.getName() == options.function)
        found.push_back(function);
    }
    if (found.size() == 1)
      return found[0];
    return choose("function", names);
  }

  llvm::Expected<func::FuncOp> selectRecipe() {
    std::vector<std::string> names;
    TrainOp found;
    for (auto recipe : llvm::to_vector(module->getOps<TrainOp>())) {
      names.push_back(recipe.getEntry().str());
      if (!options.function.empty() && recipe.getEntry() != options.function)
        recipe.erase();
      else
        found = recipe;
    }
    if (!found || (options.function.empty() && names.size() > 1))
      return choose("recipe (mp.train)", names);
    chosenRecipe = found.getEntry().str();
    builder.program.precision = precisionOf(found);
    if (options.goal == Goal::Train || options.goal == Goal::Diagnose) {
      builder.program.accumulate =
          std::max<int64_t>(microBatchesOf(found) / options.ranks, 1);
      builder.program.ranks = options.ranks;
    }
    return module->lookupSymbol<func::FuncOp>(found.getFunction());
  }

  int64_t microBatchesOf(TrainOp recipe) const {
    return options.accumulate ? options.accumulate
                              : recipe.getAccumulate().value_or(1);
  }

  /// An unknown scaler is an error later.
  void chooseScalerOf(TrainOp recipe) {
    auto given = llvm::expectedToOptional(chooseScaler(passOptions()));
    if (!given)
      return;
    builder.program.scaler = scalerPreset(recipe, *given);
    if (!llvm::expectedToOptional(parseScaler(builder.program.scaler)))
      return;
    ScalerFields fields = scalerFields(recipe, *given);
    builder.program.scale = fields.initScale;
    builder.program.scalerFields = toText(fields);
  }

  /// Returns the precision that the options ask for by any of its names, or
  /// else the recipe's.
  std::string precisionOf(TrainOp recipe) const {
    std::string dtype =
        llvm::expectedToOptional(resolvePrecision(options.precision))
            .value_or(Precision())
            .dtype.str();
    if (dtype.empty() && recipe.getAutocast())
      llvm::raw_string_ostream(dtype) << recipe.getAutocast()->getDtype();
    return dtype == "f16"    ? "fp16"
           : dtype == "bf16" ? "bf16"
           : dtype == "tf32" ? "tf32"
                             : "fp32";
  }

  llvm::Error choose(StringRef what, ArrayRef<std::string> names) {
    std::string text = (options.filename + ": ");
    if (names.empty())
      text += ("the module has no " + what).str();
    else if (options.function.empty())
      text += ("the module has more than one " + what + ": name one of " +
               llvm::join(names, ", "))
                  .str();
    else
      text += ("the module has no " + what + " \"" + options.function +
               "\", but " + llvm::join(names, ", "))
                  .str();
    return llvm::createStringError(text);
  }

  //===--------------------------------------------------------------------===//
  // Passes
  //===--------------------------------------------------------------------===//

  PipelineOptions passOptions() const {
    PipelineOptions pipeline;
    pipeline.batch = options.batch;
    pipeline.settings() = options.settings();
    pipeline.totalSteps = options.totalSteps;
    pipeline.ranks = options.ranks;
    pipeline.shardOptimizer = options.shardOptimizer;
    pipeline.returnsNumbers = options.returnsNumbers;
    pipeline.steersLearningRate = options.steersLearningRate;
    pipeline.results = options.predictions;
    pipeline.tokens = options.tokens;
    pipeline.text = options.text;
    for (StringRef output : options.outputs)
      if (output.consume_front(kGradientOutput))
        pipeline.gradients.push_back(output.str());
    pipeline.recordCasts = bool(options.onCasts);
    pipeline.insertPasses = options.insertPasses;
    pipeline.mode = options.mode == Mode::Train ? "train" : "eval";
    return pipeline;
  }

  llvm::Error buildPasses(PassManager &manager) {
    auto *build = options.goal == Goal::Train       ? buildTrainPipeline
                  : options.goal == Goal::Diagnose  ? buildDiagnosePipeline
                  : options.goal == Goal::Evaluate  ? buildEvaluatePipeline
                  : options.goal == Goal::Predict   ? buildPredictPipeline
                  : options.goal == Goal::Decode    ? buildDecodePipeline
                  : options.goal == Goal::Encode    ? buildEncodePipeline
                  : options.goal == Goal::Calibrate ? buildCalibratePipeline
                                                    : buildRunPipeline;
    PipelineOptions pipeline = passOptions();
    if (options.insertPasses.empty())
      return build(manager, pipeline);
    PassRegistryAccess registry;
    // An inserted pass need not have a place in the evaluation of the same run,
    // but must have one in either.
    if (options.goal != Goal::Train && options.goal != Goal::Run) {
      PassManager own(&context, ModuleOp::getOperationName()),
          step(&context, ModuleOp::getOperationName());
      llvm::Error here = build(own, pipeline);
      if (!here)
        return build(manager, pipeline);
      consumeError(std::move(here));
      if (llvm::Error error = buildTrainPipeline(step, pipeline))
        return error;
      pipeline.isPartOfRun = true;
    }
    return build(manager, pipeline);
  }

  llvm::Error runPasses() {
    PassManager manager(&context, ModuleOp::getOperationName());
    if (llvm::Error error = buildPasses(manager))
      return error;
    if (options.onPipeline) {
      std::string text;
      llvm::raw_string_ostream os(text);
      manager.printAsTextualPipeline(os);
      options.onPipeline(text);
    }
    bool good =
        timed("passes", [&] { return succeeded(run(manager, *module)); });
    if (!good)
      return failed();
    if (auto casts = (*module)->getAttrOfType<StringAttr>(kCastsAttr))
      options.onCasts(casts.getValue());
    return llvm::Error::success();
  }

  LogicalResult run(PassManager &passes, ModuleOp which) {
    return runReproducibly(passes, which, options.reproducer, options.plugins);
  }

  //===--------------------------------------------------------------------===//
  // Code
  //===--------------------------------------------------------------------===//

  llvm::Error emitEntries() {
    SmallVector<func::FuncOp> functions;
    for (auto function : module->getOps<func::FuncOp>())
      functions.push_back(function);
    SmallVector<KernelOp> kernels;
    for (func::FuncOp function : functions) {
      splitEpilogues(function, *backend);
      llvm::append_range(kernels, function.getOps<KernelOp>());
    }
    noteInvariants(*module);
    std::vector<FailureOr<EmittedKernel>> emitted(kernels.size(), failure());
    emitAll(kernels, emitted);
    std::vector<EmittedKernel> code;
    for (auto &kernel : emitted) {
      if (mlir::failed(kernel))
        return failed();
      code.push_back(std::move(*kernel));
    }
    bool planned = timed("plan", [&] {
      llvm::DenseMap<Operation *, ArrayRef<EmittedKernel>> codeOf;
      ArrayRef<EmittedKernel> rest = code;
      for (func::FuncOp function : functions) {
        size_t own = llvm::range_size(function.getOps<KernelOp>());
        codeOf[function] = rest.take_front(own);
        rest = rest.drop_front(own);
      }
      for (func::FuncOp function : functions)
        if (!isLoopBody(function) &&
            mlir::failed(addEntry(
                function, [&](func::FuncOp of) { return codeOf.lookup(of); })))
          return false;
      finishKernels(code);
      return true;
    });
    return planned ? llvm::Error::success() : failed();
  }

  void emitAll(ArrayRef<KernelOp> kernels,
               std::vector<FailureOr<EmittedKernel>> &emitted) {
    if (sink)
      sink->headers(builder.program.headers);
    std::vector<size_t> first = firstOfSame(kernels);
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.threads));
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (first[i] != i)
        continue;
      pool.async([&, i] {
        SignalStack stack;
        emitted[i] = timed(
            "kernel", [&] { return backend->emit(kernels[i]); }, kernels[i]);
        if (!succeeded(emitted[i]))
          return;
        emitted[i]->body = i;
        if (sink)
          announce(kernels[i], *emitted[i]);
      });
    }
    pool.wait();
    for (size_t i = 0; i < kernels.size(); ++i)
      if (first[i] != i)
        emitted[i] = emitted[first[i]];
  }

  /// Announces the kernels that no merging changes.
  void announce(KernelOp op, const EmittedKernel &emitted) {
    ProgramBuilder scratch;
    for (StringRef symbol : emitted.symbols())
      if (backend->isFinal(symbol))
        scratch.kernel(symbol, op, *backend);
    for (const Kernel &kernel : scratch.program.kernels)
      sink->kernel(kernel);
  }

  /// Drops kernels that were merged into others, and announces those that were
  /// made late.
  void finishKernels(ArrayRef<EmittedKernel> code) {
    Program &program = builder.program;
    llvm::StringSet<> announced;
    for (const EmittedKernel &kernel : code)
      for (StringRef symbol : kernel.symbols())
        if (backend->isFinal(symbol))
          announced.insert(symbol);
    std::vector<Kernel> kept;
    llvm::DenseMap<uint32_t, uint32_t> numbers;
    for (Entry &entry : program.entries)
      for (Step &step : entry.steps)
        if (auto *launch = std::get_if<Launch>(&step)) {
          auto [number, isNew] =
              numbers.try_emplace(launch->kernel, kept.size());
          if (isNew)
            kept.push_back(std::move(program.kernels[launch->kernel]));
          launch->kernel = number->second;
        }
    for (auto [number, kernel] : llvm::enumerate(program.kernels))
      if (!numbers.contains(number) && announced.contains(kernel.symbol))
        kept.push_back(std::move(kernel));
    for (const Kernel &kernel : program.kernels = std::move(kept))
      if (sink && !announced.contains(kernel.symbol))
        sink->kernel(kernel);
  }

  LogicalResult addEntry(func::FuncOp function, CodeOf codeOf) {
    bool isDerive =
        function.getName() == kDeriveEntry && options.goal != Goal::Run;
    FailureOr<Entry> planned = planEntry(function, codeOf, builder, *backend);
    if (mlir::failed(planned))
      return failure();
    Entry &entry = *planned;
    StringRef phase = phaseOf(function);
    entry.function =
        isDerive ? kDeriveEntry.str() : entryName(options, phase, chosen);
    if (!isDerive) {
      entry.recipe = chosenRecipe;
      entry.location = written;
    }
    // The entry that applies micro-batches takes none, whatever their rows.
    if (!isDerive && phase != kApplyEntry) {
      entry.batch = options.batch;
      entry.inputs = inputs;
      // mp-keep-results drops arguments, and mp-decode adds one.
      if (auto kept =
              function->getAttrOfType<DenseI64ArrayAttr>(kArgumentsAttr)) {
        entry.inputs.clear();
        for (int64_t place : kept.asArrayRef())
          entry.inputs.push_back(
              place == kAddedArgument
                  ? describePosition(function, options.tokens)
                  : inputs[place]);
      }
      for (auto [input, argument] :
           llvm::zip_equal(entry.inputs, function.getArguments()))
        input.type = describeType(tensorType(argument));
    }
    builder.program.entries.push_back(std::move(entry));
    return success();
  }

  /// Does `work`, and reports how long it took and for which kernel.
  template <typename Work>
  std::invoke_result_t<Work> timed(const char *what, Work work,
                                   KernelOp kernel = {}) {
    if (!options.onSpan)
      return work();
    CompileSpan span{what, "", std::chrono::steady_clock::now(), {}};
    if (kernel) {
      Kernel described;
      describeSources(described, kernel);
      span.detail = described.summary;
      if (!described.sources.empty())
        span.detail += " (" + described.sources.front().str() + ")";
    }
    auto result = work();
    span.end = std::chrono::steady_clock::now();
    options.onSpan(span);
    return result;
  }

  const CompileOptions &options;
  KernelSink *sink;
  llvm::SourceMgr sources;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Backend> backend;
  ProgramBuilder builder;
  std::vector<Input> inputs;
  std::string chosen;       ///< function
  std::string chosenRecipe; ///< "" where the goal is to run a function
  mp::Location written;     ///< where the function is
};
} // namespace

llvm::Expected<Program>
mp::compile(StringRef module, const CompileOptions &options, KernelSink *sink) {
  return Compilation(options, sink).run(module);
}
