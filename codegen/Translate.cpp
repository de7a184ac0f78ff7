//===- Translate.cpp - translations for mp-translate ----------------------===//
#include "codegen/Translate.h"
#include "codegen/Compile.h"
#include "codegen/cuda/Arch.h"
#include "codegen/cuda/OneSource.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "support/Error.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include <deque>

using namespace mlir;
using namespace mp;
namespace cl = llvm::cl;

namespace {
/// --mp-precision and the other settings of a recipe.
class SettingOptions {
public:
  explicit SettingOptions(cl::OptionCategory &category) {
    forEachSetting(
        [&]<typename T>(const SettingInfo &info, T RecipeSettings::*field) {
          names.push_back("mp-" + info.name.str());
          auto option = std::make_shared<cl::opt<T>>(
              StringRef(names.back()), cl::desc(info.help), cl::init(T()),
              cl::cat(category));
          readers.push_back([option, field](RecipeSettings &settings) {
            settings.*field = option->getValue();
          });
        });
  }
  void applyTo(RecipeSettings &settings) const {
    for (const auto &read : readers)
      read(settings);
  }

private:
  std::deque<std::string> names;
  std::vector<std::function<void(RecipeSettings &)>> readers;
};

/// The options exist once the tool registers its translations; other tools have
/// none of them.
struct Options {
  cl::OptionCategory category{"--mp-to-program"};
  cl::opt<Goal> goal{
      "mp-goal", cl::desc("what to compile"), cl::init(Goal::Train),
      cl::cat(category),
      cl::values(
          clEnumValN(Goal::Train, "train", "a recipe's step"),
          clEnumValN(Goal::Diagnose, "diagnose",
                     "where a step's values stop being finite"),
          clEnumValN(Goal::Evaluate, "evaluate", "a recipe's function forward"),
          clEnumValN(Goal::Predict, "predict",
                     "the part of a recipe's function that predicts"),
          clEnumValN(Goal::Decode, "decode",
                     "as predict, a token of each text at a time"),
          clEnumValN(Goal::Encode, "encode",
                     "what decode needs of the inputs beside the texts"),
          clEnumValN(Goal::Calibrate, "calibrate",
                     "the gradients that training has in f16, in f32"),
          clEnumValN(Goal::Run, "run", "any function, in --mp-mode"),
          clEnumValN(Goal::Inspect, "inspect", "variables and data alone"))};
  cl::opt<std::string> function{
      "mp-function", cl::desc("which function, or which recipe's step"),
      cl::cat(category)};
  cl::opt<Mode> mode{
      "mp-mode", cl::desc("how --mp-goal=run has dropout and batch norm"),
      cl::init(Mode::Evaluate), cl::cat(category),
      cl::values(clEnumValN(Mode::Evaluate, "eval", "as to predict"),
                 clEnumValN(Mode::Train, "train", "as to train"))};
  cl::opt<int64_t> batch{"mp-batch", cl::desc("rows in a batch"), cl::init(0),
                         cl::cat(category)};
  SettingOptions setting{category};
  cl::opt<int64_t> totalSteps{"mp-total-steps", cl::desc("length of schedules"),
                              cl::init(0), cl::cat(category)};
  cl::opt<bool> returnsNumbers{
      "mp-returns-numbers",
      cl::desc("drop the results of a step that are not one number, as mp-run "
               "train does"),
      cl::init(false), cl::cat(category)};
  cl::opt<std::string> target{"mp-target", cl::desc("cpu or cuda"),
                              cl::init("cpu"), cl::cat(category)};
  cl::opt<std::string> arch{
      "mp-arch",
      cl::desc("LLVM name of the CPU, instead of the host; or sm_80 and later"),
      cl::cat(category)};
  cl::opt<bool> onednn{
      "mp-onednn",
      cl::desc("oneDNN for matrix products of f32 and bf16 on the CPU"),
      cl::cat(category)};
  cl::opt<std::string> plan{
      "mp-plan",
      cl::desc("tuning plan for a CUDA device, of whose libraries all are "
               "taken to be there"),
      cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> reproducer{
      "mp-reproducer",
      cl::desc("where a pass fails or crashes, write the module before it, and "
               "how to rerun it"),
      cl::cat(category)};
  cl::list<std::string> plugins{
      "load-pass-plugin",
      cl::desc("shared library with passes to insert, or with dialects"),
      cl::value_desc("file"), cl::cat(category)};
  cl::list<std::string> dialectPlugins{
      "load-dialect-plugin", cl::desc("the same"), cl::value_desc("file"),
      cl::cat(category)};
  cl::list<std::string> insertPasses{
      "insert-pass",
      cl::desc("run passes beside one of the pipeline: "
               "after=mp-autodiff:my-pass{by=2}, or before=..."),
      cl::value_desc("place:passes"), cl::cat(category)};
  cl::opt<bool> dumpPipeline{
      "dump-pass-pipeline",
      cl::desc("print the passes, as mp-opt --pass-pipeline takes them"),
      cl::init(false), cl::cat(category)};
  cl::opt<bool> code{"mp-code", cl::desc("print the objects too"),
                     cl::init(false), cl::cat(category)};
  cl::opt<bool> headers{
      "mp-headers", cl::desc("--mp-to-cuda: print what the kernels include"),
      cl::init(true), cl::cat(category)};
};
} // namespace

static std::optional<Program> compile(const Options &options, StringRef target,
                                      llvm::SourceMgr &sources) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  if (target == "cuda")
    if (auto arch = cuda::Arch::known(options.arch); !arch) {
      llvm::errs() << "--mp-arch: " << toString(arch.takeError()) << '\n';
      return std::nullopt;
    }
  CompileOptions compileOptions;
  compileOptions.filename = buffer->getBufferIdentifier().str();
  compileOptions.goal = options.goal;
  compileOptions.function = options.function;
  compileOptions.mode = options.mode;
  compileOptions.batch = options.batch;
  options.setting.applyTo(compileOptions);
  compileOptions.totalSteps = options.totalSteps;
  compileOptions.returnsNumbers = options.returnsNumbers;
  compileOptions.target = target.str();
  compileOptions.arch = options.arch;
  compileOptions.onednn = options.onednn;
  if (!options.plan.empty()) {
    auto plan = llvm::MemoryBuffer::getFile(options.plan);
    if (!plan) {
      llvm::errs() << options.plan << ": " << plan.getError().message() << '\n';
      return std::nullopt;
    }
    compileOptions.plan = (*plan)->getBuffer().str();
    compileOptions.planName = options.plan;
    compileOptions.cublaslt = compileOptions.cudnn = true;
  }
  compileOptions.reproducer = options.reproducer;
  llvm::append_range(compileOptions.plugins, options.plugins);
  llvm::append_range(compileOptions.plugins, options.dialectPlugins);
  llvm::append_range(compileOptions.insertPasses, options.insertPasses);
  if (options.dumpPipeline)
    compileOptions.onPipeline = [](StringRef text) {
      llvm::errs() << text << '\n';
    };
  compileOptions.onWarning = [](StringRef text) {
    llvm::errs() << text << '\n';
  };
  auto program = compile(buffer->getBuffer(), compileOptions);
  if (!program) {
    llvm::errs() << withoutControls(toString(program.takeError())) << '\n';
    return std::nullopt;
  }
  return std::move(*program);
}

static LogicalResult toProgram(const Options &options, llvm::SourceMgr &sources,
                               llvm::raw_ostream &os) {
  std::optional<Program> program = compile(options, options.target, sources);
  if (!program)
    return failure();
  print(*program, os, options.code);
  return success();
}

static LogicalResult toCuda(const Options &options, llvm::SourceMgr &sources,
                            llvm::raw_ostream &os) {
  std::optional<Program> program = compile(options, "cuda", sources);
  if (!program)
    return failure();
  os << cuda::printOneSource(*program, options.headers);
  return success();
}

void mp::registerTranslations() {
  static Options options;
  static TranslateRegistration registration(
      "mp-to-program", "compile a recipe or a function to a Program's text",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
         MLIRContext *) { return toProgram(options, *sources, os); });
  static TranslateRegistration cuda(
      "mp-to-cuda", "compile a recipe or a function to CUDA C++",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, llvm::raw_ostream &os,
         MLIRContext *) { return toCuda(options, *sources, os); });
}
