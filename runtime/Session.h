//===- Session.h - loads Programs and runs their entry points -------------===//
#ifndef MP_RUNTIME_SESSION_H
#define MP_RUNTIME_SESSION_H

#include "program/Program.h"
#include "runtime/Device.h"
#include "runtime/TensorView.h"
#include <functional>
#include <memory>

namespace mp {

class KernelSink;
class Trace;
struct Profile;

struct SessionOptions {
  unsigned threads =
      0;              ///< workers, the caller's thread included; 0: one a core
  Device device = {}; ///< the CPU
  /// Gets what is worth knowing but no error; from any thread.
  std::function<void(llvm::StringRef)> onWarning = {};
  std::shared_ptr<Trace> trace = nullptr; ///< gets what is run when
};

/// What making kernels for a device took.
struct CompileCounts {
  uint64_t hits = 0;   ///< kernels found in the cache on disk
  uint64_t misses = 0; ///< kernels compiled
  double seconds = 0;  ///< spent in the compiler, all threads together
};

/// What a run returned, on the host, in the order of entry().results.
class Results {
public:
  Results() = default;
  /// One address for each of entry.results.
  Results(const Entry &entry, llvm::ArrayRef<const void *> addresses)
      : declared(&entry), addresses(addresses) {}

  size_t size() const { return declared ? declared->results.size() : 0; }
  const TensorType &type(size_t index) const {
    return declared->results[index].type;
  }
  TensorView operator[](size_t index) const {
    return {type(index).element, addresses[index], type(index).bytes()};
  }
  /// The result that the function names so, in the type that it has there. The
  /// error lists the names there are.
  llvm::Expected<TensorView> find(llvm::StringRef name) const;

private:
  const Entry *declared = nullptr;
  llvm::ArrayRef<const void *> addresses;
};

/// An entry point linked and ready. Owned by its Session.
class Executable {
public:
  using Inputs = llvm::ArrayRef<TensorView>;
  using Results = mp::Results;
  /// One run; they count up from 0.
  using Ticket = uint64_t;
  /// Whether elements are looked at before a run: whether they lie in
  /// Input::range. `Known` is for who has done so already: of a data set,
  /// Dataset::bind looks at every sample once, and not again at each step. The
  /// number, types and sizes of inputs are always checked.
  enum class Ranges { Check, Known };

  virtual ~Executable() = default;
  virtual const Entry &entry() const = 0;

  /// Starts a run of all steps, after whatever was submitted to the Session
  /// before. `inputs` are as entry().inputs says, 64-byte aligned for speed;
  /// they are only read, and not after this returns. Allocates nothing. Errors:
  /// an input that is not as declared, before anything is run; the device
  /// failed, in this or an earlier run.
  llvm::Expected<Ticket> submit(Inputs inputs, Ranges ranges = Ranges::Check);
  /// Waits for a run and returns where its results are, in entry()'s order, on
  /// the host. At most the last Session::stepsInFlight() runs of this
  /// Executable may be asked for; the addresses hold until as many more were
  /// submitted to the Session.
  virtual llvm::Expected<Results> results(Ticket ticket) = 0;

  /// Runs all steps some dozens of times on the inputs of one run and times
  /// them. Goes on with the state as runs do: see profileKeepingState. Errors:
  /// as of submit, or no memory for the copy it is compared with.
  llvm::Expected<Profile> profile(Inputs inputs);

  /// Runs all steps and waits.
  llvm::Expected<Results> run(Inputs inputs, Ranges ranges = Ranges::Check);

protected:
  // What a target does with inputs that have been checked.
  virtual llvm::Expected<Ticket> start(Inputs inputs) = 0;
  virtual llvm::Expected<Profile> measure(Inputs inputs) = 0;
};

/// State variables, the arena and the linked kernels on a device. Programs
/// loaded into one Session share variables by name; a variable that two
/// Programs declare differently is an error. One arena serves all entry points,
/// as they never run at the same time. Not thread-safe, but for `sink`.
class Session {
public:
  /// A Session on the device that the options name. An error of the code
  /// std::errc::no_such_device: it cannot be used.
  static llvm::Expected<std::unique_ptr<Session>>
  create(const SessionOptions &options = {});
  virtual ~Session() = default;

  /// Links the Program's kernels (a known symbol is not linked again),
  /// allocates variables that are new, grows the arena. Errors: a feature the
  /// device lacks, a kernel that does not compile, a routine whose library
  /// cannot be opened, a variable that disagrees, a plan that does not fit into
  /// memory.
  virtual llvm::Error load(Program program) = 0;
  /// Where to send the kernels of a Program as they are lowered, so that `load`
  /// finds them made; null where nothing is gained. Not to outlive the Session.
  virtual std::unique_ptr<KernelSink> sink();

  /// Fills every variable by its initialiser, Philox4x32-10 keyed by `seed` and
  /// the variable's name, then runs `derive` where a Program brought one.
  virtual llvm::Error initialize(uint64_t seed) = 0;
  /// Runs the entry point `derive` where a Program brought one.
  virtual llvm::Error derive() = 0;

  virtual llvm::ArrayRef<Variable> variables() const = 0;
  /// Copies a variable to `bytes`, after what was submitted has run. Errors: no
  /// such variable, another size, the device failed.
  virtual llvm::Error read(llvm::StringRef variable,
                           llvm::MutableArrayRef<char> bytes) = 0;
  /// Copies `bytes` to a variable; otherwise as `read`.
  virtual llvm::Error write(llvm::StringRef variable,
                            llvm::ArrayRef<char> bytes) = 0;

  /// The entry point by its name, or a step by its recipe's; null: there is
  /// none.
  virtual Executable *find(llvm::StringRef function, int64_t batch) = 0;

  /// What programs are to be compiled for: CompileOptions::target and ::arch.
  virtual llvm::StringRef target() const { return "cpu"; }
  virtual std::string arch() const { return ""; }
  /// What a person calls it: "znver4, 8 threads", "NVIDIA H200, sm_90".
  virtual std::string describe() const = 0;

  /// How many runs may be submitted before the results of the first are asked
  /// for: 1 where `submit` is the run itself.
  virtual unsigned stepsInFlight() const { return 1; }
  /// Bytes of variables and of the arena together: the plan.
  virtual uint64_t plannedBytes() const = 0;
  virtual CompileCounts compileCounts() const { return {}; }
};

} // namespace mp

#endif // MP_RUNTIME_SESSION_H
