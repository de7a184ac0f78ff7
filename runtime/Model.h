//===- Model.h - a module's text, its state and its compiled entries ------===//
#ifndef MP_RUNTIME_MODEL_H
#define MP_RUNTIME_MODEL_H

#include "program/Compiler.h"
#include "runtime/cache/CodeCache.h"
#include "runtime/data/Dataset.h"
#include "runtime/report/PlanReport.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>
#include <map>

namespace mp {

/// Makes the Session of a Model; Session::create, or a test's own.
using SessionFactory = std::function<llvm::Expected<std::unique_ptr<Session>>(
    const SessionOptions &)>;

struct ModelOptions {
  std::string module;                 ///< path of the .mlir file
  std::string device = "auto";        ///< as in chooseDevice
  unsigned threads = 0;               ///< 0: one per core
  UseOnednn onednn = UseOnednn::Auto; ///< Auto: used if installed
  std::string plan = {};       ///< path of a tuning plan, for a CUDA device
  CompileOptions compile = {}; ///< precision, scaler, function, totalSteps
  std::shared_ptr<Trace> trace = nullptr; ///< records what happens when
  /// Receives notes for the user: why a device was chosen, warnings. Called
  /// from any thread.
  std::function<void(llvm::StringRef)> onNote = {};
};

/// One module being run: a Session, and the programs compiled for it so far, by
/// goal and batch. Not thread-safe; compiling ahead happens on its own thread.
class Model {
public:
  /// Reads the module file and makes the Session. An error of the code
  /// std::errc::no_such_device: the device is known but cannot be used here.
  static llvm::Expected<std::unique_ptr<Model>>
  open(ModelOptions options, Compiler compiler, SessionFactory createSession);
  ~Model();

  Session &session() { return *state; }
  /// Options of what is compiled from now on.
  CompileOptions &compileOptions() { return options.compile; }

  /// The module's data source `name`, or null if it has none and is not
  /// `required`. The error lists the sources there are.
  llvm::Expected<const DataSource *> dataSource(llvm::StringRef name,
                                                bool required);

  /// The micro-batches of a step, as the options or else the recipe say.
  llvm::Expected<int64_t> accumulate();

  /// The loss scaler that the recipe trains with, a preset or "none".
  llvm::Expected<std::string> scaler();
  /// Its fields: "growth_factor=2 growth_interval=2000 ...".
  llvm::Expected<std::string> scalerFields();
  /// The loss scale that it begins with; 1 without a scaler.
  llvm::Expected<double> initialScale();

  /// Compiles on a thread of its own; `get` then finds the result.
  void compileAhead(Goal goal, int64_t batch);
  /// The entry point `function` at `batch`, compiled and linked if needed; a
  /// recipe's step may be named by its recipe (see Entry::isCalled). An empty
  /// `function` means the only entry point besides `derive`.
  llvm::Expected<Executable *> get(Goal goal, llvm::StringRef function,
                                   int64_t batch);

  /// The device: "cpu", "cuda:0".
  const std::string &device() const { return options.device; }
  /// The target of the last program linked: "znver4", "sm_90".
  const std::string &moduleName() const { return name; }
  const std::string &arch() const { return archName; }
  /// The memory plan of the first program linked, which is that of a whole
  /// batch if one is requested first.
  const std::optional<PlanReport> &memoryPlan() const { return memory; }
  /// Program::plan
  const std::string &plan() const { return planHash; }
  /// The hits and misses of the kernel cache, and the time spent compiling.
  CompileCounts compileCounts() const;
  /// The precision it computes in: "fp16".
  const std::string &precision() const { return precisionName; }

private:
  using Key = std::pair<Goal, int64_t>;
  struct Job {
    std::shared_future<void> done;
    std::optional<llvm::Expected<Program>> program;
  };

  Model() : background(llvm::hardware_concurrency(1)) {}
  llvm::Expected<Program> compile(Goal goal, CompileOptions options) const;
  /// Finds the facts of the module that need no compilation.
  llvm::Error inspect();
  /// Links the program of a job; remembers its entries.
  llvm::Error link(Key key, llvm::Expected<Program> program);

  ModelOptions options;
  Compiler compiler;
  std::string text;
  std::unique_ptr<Session> state;
  std::shared_ptr<CodeCache> cache; ///< of compiled objects; null on CUDA
  std::string name, archName, precisionName, planHash;
  std::optional<PlanReport> memory;
  std::optional<std::vector<DataSource>> sources;
  int64_t microBatches = 1;
  std::string scalerName, fieldsOfScaler;
  double firstScale = 1;
  /// The names and batches of each linked program's entries.
  std::map<Key, std::vector<Entry>> linked;
  std::map<Key, std::unique_ptr<Job>> jobs;
  std::atomic<bool> stopping = false;
  llvm::DefaultThreadPool background;
};

/// Reads a scalar result of a run as a double.
double readScalar(const Entry &entry, Executable::Results results,
                  unsigned result);
bool isScalar(const Result &result);

} // namespace mp

#endif // MP_RUNTIME_MODEL_H
