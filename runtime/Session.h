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
      0; ///< workers, the caller's thread included; 0: one per core
  Device device = {}; ///< the CPU
  /// Receives warnings, from any thread.
  std::function<void(llvm::StringRef)> onWarning = {};
  std::shared_ptr<Trace> trace = nullptr; ///< records what runs when
};

/// The cost of making kernels for a device.
struct CompileCounts {
  uint64_t hits = 0;   ///< kernels found in the cache on disk
  uint64_t misses = 0; ///< kernels compiled
  double seconds = 0;  ///< spent in the compiler, all threads together
};

/// The results of a run on the host, in the order of entry().results.
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
  /// The result of that name, in the type that the function returns. The error
  /// lists the names of the results.
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
  /// The number of a run, counted from 0.
  using Ticket = uint64_t;
  /// Whether every element is checked to lie in Input::range before a run.
  /// `Known` skips this for inputs that were checked already: Dataset::bind
  /// checks every sample once. The number, types and sizes of inputs are always
  /// checked.
  enum class Ranges { Check, Known };

  virtual ~Executable() = default;
  virtual const Entry &entry() const = 0;

  /// Starts a run of all steps, after all runs submitted to the Session before.
  /// `inputs` are as entry().inputs says, 64-byte aligned for speed; they are
  /// not read after this returns. Allocates nothing. Errors: an input that is
  /// not as declared, in which case nothing runs; the device failed, in this or
  /// an earlier run.
  llvm::Expected<Ticket> submit(Inputs inputs, Ranges ranges = Ranges::Check);
  /// Waits for a run and returns its results on the host, in entry()'s order.
  /// Only the last Session::stepsInFlight() runs of this Executable have
  /// results; the addresses are valid until as many more runs have been
  /// submitted to the Session.
  virtual llvm::Expected<Results> results(Ticket ticket) = 0;

  /// Runs all steps some dozens of times on the inputs of one run and times
  /// them. The state advances as in other runs: see profileKeepingState.
  /// Errors: those of submit, or no memory for the copy that speeds are
  /// compared with.
  llvm::Expected<Profile> profile(Inputs inputs);

  /// Runs all steps and waits.
  llvm::Expected<Results> run(Inputs inputs, Ranges ranges = Ranges::Check);

protected:
  // Starts a run; the inputs have been checked.
  virtual llvm::Expected<Ticket> start(Inputs inputs) = 0;
  virtual llvm::Expected<Profile> measure(Inputs inputs) = 0;
};

/// State variables, the arena and the linked kernels on a device. Programs
/// loaded into one Session share variables by name; a variable that two
/// Programs declare differently is an error. One arena serves all entry points,
/// as they never run at the same time. Not thread-safe, except for `sink`.
class Session {
public:
  /// A Session on the device that the options name. An error of the code
  /// std::errc::no_such_device means that the device cannot be used.
  static llvm::Expected<std::unique_ptr<Session>>
  create(const SessionOptions &options = {});
  virtual ~Session() = default;

  /// Links the Program's kernels (a known symbol is not linked again),
  /// allocates new variables, grows the arena. Errors: a feature the device
  /// lacks, a kernel that does not compile, a routine whose library cannot be
  /// opened, a variable that is declared differently, a plan that does not fit
  /// into memory.
  virtual llvm::Error load(Program program) = 0;
  /// Takes the kernels of a Program as they are lowered, so that they are
  /// compiled before `load` needs them; null if this saves no time. The Session
  /// must outlive it.
  virtual std::unique_ptr<KernelSink> sink();

  /// Fills every variable with its initialiser, Philox4x32-10 keyed by `seed`
  /// and the variable's name, then runs `derive` if a Program has it.
  virtual llvm::Error initialize(uint64_t seed) = 0;
  /// Runs the entry point `derive` if a Program has it.
  virtual llvm::Error derive() = 0;

  virtual llvm::ArrayRef<Variable> variables() const = 0;
  /// Copies a variable to `bytes`, after all submitted runs. Errors: no such
  /// variable, another size, the device failed.
  virtual llvm::Error read(llvm::StringRef variable,
                           llvm::MutableArrayRef<char> bytes) = 0;
  /// Copies `bytes` to a variable; otherwise like `read`.
  virtual llvm::Error write(llvm::StringRef variable,
                            llvm::ArrayRef<char> bytes) = 0;

  /// The entry point of that name, or the step of the recipe of that name; null
  /// if there is none.
  virtual Executable *find(llvm::StringRef function, int64_t batch) = 0;

  /// The target of compilations: CompileOptions::target and ::arch.
  virtual llvm::StringRef target() const { return "cpu"; }
  virtual std::string arch() const { return ""; }
  /// A description for users: "znver4, 8 threads", "NVIDIA H200, sm_90".
  virtual std::string describe() const = 0;

  /// How many runs may be submitted before the results of the first are read; 1
  /// if `submit` returns only after the run.
  virtual unsigned stepsInFlight() const { return 1; }
  /// The planned bytes of variables and arena together.
  virtual uint64_t plannedBytes() const = 0;
  virtual CompileCounts compileCounts() const { return {}; }
};

} // namespace mp

#endif // MP_RUNTIME_SESSION_H
