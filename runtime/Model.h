//===- Model.h - a module's text, its state and its compiled entries ------===//
#ifndef MP_RUNTIME_MODEL_H
#define MP_RUNTIME_MODEL_H

#include "program/Compiler.h"
#include "runtime/cache/CodeCache.h"
#include "runtime/data/Shuffle.h"
#include "runtime/report/PlanReport.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>
#include <map>

namespace mp {

/// Creates the Session of a Model: Session::create, or a function of a test.
using SessionFactory = std::function<llvm::Expected<std::unique_ptr<Session>>(
    const SessionOptions &)>;

struct ModelOptions {
  std::string module; ///< path of the .mlir file
  /// The text of the module; `module` then is its name in messages.
  std::optional<std::string> text = {};
  /// The paths of the modules of length buckets, by their lengths. `module` is
  /// that of the largest one, or of any length if there are none.
  std::map<int64_t, std::string> buckets = {};
  std::string device = "auto"; ///< a name that chooseDevice accepts
  unsigned threads = 0;        ///< 0: one a core
  bool onednn = false;         ///< for matrix products on the CPU
  std::string plan = {};       ///< path of a tuning plan, for a CUDA device
  CompileOptions compile = {}; ///< precision, scaler, function, totalSteps
  std::shared_ptr<Trace> trace = nullptr; ///< gets the time of each event
  std::shared_ptr<Communicator> ranks = nullptr; ///< as in SessionOptions
  /// Gets lines of text, such as warnings and why a device was chosen, from any
  /// thread.
  std::function<void(llvm::StringRef)> onNote = {};
};

/// A module that is run: a Session, and the programs that were compiled for it
/// so far, by goal and size of the batch. With length buckets, each has a
/// module of its own with the same variables. Not thread-safe. compileAhead
/// uses a thread of its own.
class Model {
public:
  /// Reads the module file and creates the Session. Error:
  /// std::errc::no_such_device if the device cannot be used on this machine.
  static llvm::Expected<std::unique_ptr<Model>>
  open(ModelOptions options, Compiler compiler, SessionFactory createSession);
  ~Model();

  Session &session() { return *state; }
  /// Returns the options of later compilations.
  CompileOptions &compileOptions() { return options.compile; }

  /// Returns the data source `name` of the module, or null if it has none and
  /// none is `required`. An error lists the sources of the module.
  llvm::Expected<const DataSource *> dataSource(llvm::StringRef name,
                                                bool required);

  /// Returns the number of micro-batches of a step, of all ranks together: that
  /// of the options, or else of the recipe, or else one for each rank. An error
  /// says that ranks cannot share them equally.
  llvm::Expected<int64_t> accumulate();
  /// Returns how many of them a rank takes.
  llvm::Expected<int64_t> share();

  /// Returns the loss scaler that the recipe trains with: a preset or "none".
  llvm::Expected<std::string> scaler();
  /// Returns the fields of the scaler: "growth_factor=2 growth_interval=2000
  /// ...".
  llvm::Expected<std::string> scalerFields();
  /// Returns the first loss scale, which is 1 without a scaler.
  llvm::Expected<double> initialScale();

  /// Compiles on a thread of its own; `get` then finds the result.
  void compileAhead(Goal goal, BatchSize batch);
  /// Returns the entry point `function` for `batch`, compiled and linked if
  /// necessary. A step is also found by the name of its recipe (see
  /// Entry::isCalled). An empty `function` stands for the only one besides
  /// `derive`.
  llvm::Expected<Executable *> get(Goal goal, llvm::StringRef function,
                                   BatchSize batch);

  /// Returns the lengths of the buckets, or none.
  std::vector<int64_t> buckets() const;

  /// Returns the ranks that the options name, or null.
  Communicator *ranks() const { return options.ranks.get(); }
  /// Returns the device: "cpu", "cuda:0".
  const std::string &device() const { return options.device; }
  /// Returns the target of the last linked program: "znver4", "sm_90".
  const std::string &moduleName() const { return name; }
  const std::string &arch() const { return archName; }
  /// Returns the memory plan of the program that was linked first.
  const std::optional<PlanReport> &memoryPlan() const { return memory; }
  /// Program::graph of the program that was linked first
  const std::vector<SourceOp> &graph() const { return written; }
  /// Program::plan
  const std::string &plan() const { return planHash; }
  /// Returns a hash of the program that was linked first. Equal programs have
  /// the same kernels, entry points and variables.
  uint64_t digest() const { return programHash; }
  /// Returns what the compilation of kernels took so far, and how many the
  /// cache had.
  CompileCounts compileCounts() const;
  /// Returns the precision: "fp16".
  const std::string &precision() const { return precisionName; }

private:
  /// Goal, batch, and its length or how many tokens are decoded.
  using Key = std::tuple<Goal, int64_t, int64_t>;
  /// An entry point without its steps, and where the Session has it: entry
  /// points of several lengths have one name and batch.
  struct Linked {
    Entry entry;
    Executable *executable = nullptr;
  };
  struct Job {
    std::shared_future<void> done;
    std::optional<llvm::Expected<Program>> program;
  };

  Model() : background(llvm::hardware_concurrency(1)) {}
  Key keyOf(Goal goal, BatchSize batch) const {
    return {goal, batch.rows,
            goal == Goal::Decode ? options.compile.tokens : batch.length};
  }
  llvm::Expected<Program> compile(Goal goal, BatchSize batch,
                                  CompileOptions options) const;
  /// Fails unless a bucket's program has the variables of the others.
  llvm::Error checkBucket(Key key, const Program &program);
  /// Reads what is known of the module without compiling it.
  llvm::Error inspect();
  /// Links the program of a job and stores its entries.
  llvm::Error link(Key key, llvm::Expected<Program> program);

  ModelOptions options;
  Compiler compiler;
  std::string text;
  std::map<int64_t, std::string> texts; ///< of buckets
  /// The variables of the first step, if there are buckets.
  std::vector<Variable> trained;
  std::unique_ptr<Session> state;
  std::shared_ptr<CodeCache>
      cache; ///< of the objects that codegen makes; null for CUDA
  std::string name, archName, precisionName, planHash;
  std::vector<SourceOp> written;
  std::optional<PlanReport> memory;
  std::optional<std::vector<DataSource>> sources;
  int64_t microBatches = 1;
  uint64_t programHash = 0;
  std::string scalerName, fieldsOfScaler;
  double firstScale = 1;
  /// The entries of each linked program.
  std::map<Key, std::vector<Linked>> linked;
  std::map<Key, std::unique_ptr<Job>> jobs;
  std::atomic<bool> stopping = false;
  llvm::DefaultThreadPool background;
};

/// Returns a scalar result of a run as a double.
double readScalar(const Entry &entry, Executable::Results results,
                  unsigned result);
bool isScalar(const Result &result);

} // namespace mp

#endif // MP_RUNTIME_MODEL_H
