//===- Session.h - loads Programs and runs their entry points -------------===//
#ifndef MP_RUNTIME_SESSION_H
#define MP_RUNTIME_SESSION_H

#include "program/Program.h"
#include "runtime/Device.h"
#include "runtime/TensorView.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <memory>

namespace mp {

class Communicator;
class KernelSink;
class Trace;
struct Profile;

struct SessionOptions {
  unsigned threads =
      0; ///< workers, the caller's thread included; 0: one per core
  Device device = {}; ///< the CPU
  /// Gets warnings, from any thread.
  std::function<void(llvm::StringRef)> onWarning = {};
  std::shared_ptr<Trace> trace = nullptr; ///< gets the time of each launch
  /// The ranks that programs exchange tensors with; null: none.
  std::shared_ptr<Communicator> ranks = nullptr;
};

/// What the compilation of kernels for a device took.
struct CompileCounts {
  uint64_t hits = 0;   ///< kernels found in the cache on disk
  uint64_t misses = 0; ///< kernels compiled
  double seconds = 0;  ///< spent in the compiler, all threads together
};

/// The results of a run on the host, in the order of entry().results.
class Results {
public:
  Results() = default;
  /// `addresses` has one element for each of entry.results.
  Results(const Entry &entry, llvm::ArrayRef<const void *> addresses)
      : declared(&entry), addresses(addresses) {}

  size_t size() const { return declared ? declared->results.size() : 0; }
  const TensorType &type(size_t index) const {
    return declared->results[index].type;
  }
  TensorView operator[](size_t index) const {
    return {type(index).element, addresses[index], type(index).bytes()};
  }
  /// Returns the result of that `mp.name`, in the type that the function
  /// declares. An error lists the names.
  llvm::Expected<TensorView> find(llvm::StringRef name) const;

private:
  const Entry *declared = nullptr;
  llvm::ArrayRef<const void *> addresses;
};

/// A linked entry point, which its Session owns.
class Executable {
public:
  using Inputs = llvm::ArrayRef<TensorView>;
  using Results = mp::Results;
  /// The number of a run, counted from 0.
  using Ticket = uint64_t;
  /// Whether a run checks that the elements of inputs are in Input::range.
  /// `Known` is for callers that have checked them: Dataset::bind checks every
  /// sample of a data set once, so that steps need not. The number, types and
  /// sizes of inputs are always checked.
  enum class Ranges { Check, Known };

  virtual ~Executable() = default;
  virtual const Entry &entry() const = 0;

  /// Starts a run of all steps, after all earlier runs of the Session. `inputs`
  /// have the types of entry().inputs and should be 64-byte aligned for speed.
  /// They are only read, and not after this returns. Allocates nothing. Errors:
  /// an input is not as declared, in which case nothing runs; the device
  /// failed, in this or an earlier run.
  llvm::Expected<Ticket> submit(Inputs inputs, Ranges ranges = Ranges::Check);
  /// Waits for a run and returns its results on the host, in the order of
  /// entry(). `ticket` must be one of the last Session::stepsInFlight() runs of
  /// this Executable. The addresses are valid until as many further runs are
  /// submitted to the Session.
  virtual llvm::Expected<Results> results(Ticket ticket) = 0;

  /// Runs and times all steps a few dozen times on the same inputs. The runs
  /// change the state (see profileKeepingState). Errors: those of submit, or no
  /// memory for the copy that the profile compares with.
  llvm::Expected<Profile> profile(Inputs inputs);

  /// Runs all steps and waits.
  llvm::Expected<Results> run(Inputs inputs, Ranges ranges = Ranges::Check);

protected:
  // Starts a run; the inputs have been checked.
  virtual llvm::Expected<Ticket> start(Inputs inputs) = 0;
  virtual llvm::Expected<Profile> measure(Inputs inputs) = 0;
};

/// The state variables, the arena and the linked kernels on a device. Programs
/// that are loaded into one Session share variables by name; it is an error if
/// two Programs declare a variable differently. All entry points share one
/// arena, since they never run at the same time. Not thread-safe, except for
/// `sink`.
class Session {
public:
  /// Creates a Session on the device that the options name. Error:
  /// std::errc::no_such_device if it cannot be used.
  static llvm::Expected<std::unique_ptr<Session>>
  create(const SessionOptions &options = {});
  virtual ~Session() = default;

  /// Links the kernels of the Program (a known symbol is not linked again),
  /// allocates new variables, and grows the arena. Errors: a feature that the
  /// device lacks, a kernel that does not compile, a routine whose library
  /// cannot be opened, a variable that is declared differently, a plan that
  /// does not fit into memory.
  virtual llvm::Error load(Program program) = 0;
  /// Returns a receiver for the kernels of a Program as they are lowered, so
  /// that they are compiled when `load` needs them. Null if nothing is gained.
  /// The Session must outlive it.
  virtual std::unique_ptr<KernelSink> sink();

  /// Fills every variable by its initialiser, Philox4x32-10 keyed by `seed` and
  /// the name of the variable, then runs `derive` if a Program has it.
  virtual llvm::Error initialize(uint64_t seed) = 0;
  /// Runs the entry point `derive` if a Program has it.
  virtual llvm::Error derive() = 0;

  virtual llvm::ArrayRef<Variable> variables() const = 0;
  /// Copies a variable to `bytes`, after all submitted runs. Errors: no such
  /// variable, another size, the device failed.
  virtual llvm::Error read(llvm::StringRef variable,
                           llvm::MutableArrayRef<char> bytes) = 0;
  /// Calls `see` with the bytes of a variable, after all submitted runs. They
  /// are not copied if the device's memory is the host's. Errors: as for
  /// `read`.
  virtual llvm::Error view(const Variable &variable,
                           llvm::function_ref<void(llvm::ArrayRef<char>)> see);
  /// Copies `bytes` to a variable, after all submitted runs. Errors: as for
  /// `read`.
  virtual llvm::Error write(llvm::StringRef variable,
                            llvm::ArrayRef<char> bytes) = 0;

  /// Returns the entry point of that name, or the step of the recipe of that
  /// name, or null.
  virtual Executable *find(llvm::StringRef function, int64_t batch) = 0;

  /// Return what programs must be compiled for: CompileOptions::target and
  /// ::arch.
  virtual llvm::StringRef target() const { return "cpu"; }
  virtual std::string arch() const { return ""; }
  /// Describes the device: "znver4, 8 threads", "NVIDIA H200, sm_90".
  virtual std::string describe() const = 0;

  /// Returns how many runs may be submitted before the results of the first are
  /// read. 1 if `submit` itself runs the steps.
  virtual unsigned stepsInFlight() const { return 1; }
  /// Returns the planned bytes of variables and arena together.
  virtual uint64_t plannedBytes() const = 0;
  virtual CompileCounts compileCounts() const { return {}; }
};

} // namespace mp

#endif // MP_RUNTIME_SESSION_H
