//===- CudaSession.cpp - a Session on a CUDA device -----------------------===//
#include "runtime/cuda/CudaSession.h"
#include "program/Names.h"
#include "runtime/Initialize.h"
#include "runtime/MemoryPlan.h"
#include "runtime/ThreadPool.h"
#include "runtime/Variables.h"
#include "runtime/cuda/CudaExecutable.h"
#include "runtime/cuda/DeviceKernels.h"
#include "runtime/ranks/CollectiveCall.h"
#include "runtime/report/PlanReport.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp::cuda {
namespace {

class CudaSession final : public Session {
public:
  CudaSession(std::unique_ptr<DeviceContext> context,
              std::unique_ptr<CompilePool> pool, unsigned threads)
      : context(std::move(context)), kernels(*this->context, std::move(pool)),
        threads(threads) {}
  ~CudaSession() override {
    // Nothing may be released while the device uses it. Errors have been
    // reported by earlier waits.
    consumeError(context->synchronize());
  }

  Error load(Program program) override;
  std::unique_ptr<KernelSink> sink() override { return kernels.sink(); }
  Error initialize(uint64_t seed) override;
  Error derive() override;
  ArrayRef<Variable> variables() const override { return state.all(); }
  Error read(StringRef variable, MutableArrayRef<char> bytes) override;
  Error write(StringRef variable, ArrayRef<char> bytes) override;
  Executable *find(StringRef function, int64_t batch) override;
  StringRef target() const override { return "cuda"; }
  std::string arch() const override { return kernels.architecture(); }
  std::string describe() const override {
    return context->facts.name + ", " + arch();
  }
  unsigned stepsInFlight() const override { return CudaExecutable::slotCount; }
  uint64_t plannedBytes() const override { return state.bytes() + arenaBytes; }
  CompileCounts compileCounts() const override { return kernels.counts(); }

private:
  using Routines = std::vector<std::unique_ptr<DeviceRoutine>>;

  Error checkMemory(const Program &program, ArrayRef<Variable> fresh) const;
  Expected<std::vector<Routines>> createRoutines(const Program &program) const;
  Error declare(std::vector<Variable> fresh);
  Expected<DeviceLinkage> resolve(const Program &program);
  Error growArena(const Program &program);

  std::unique_ptr<DeviceContext> context; ///< outlives all that follows
  DeviceKernels kernels;
  unsigned threads; ///< of the host
  Variables<Address> state;
  std::vector<DeviceMemory> memories; ///< of variables and constants
  DeviceMemory arena;
  uint64_t arenaBytes = 0;
  std::vector<std::unique_ptr<CudaExecutable>> executables;
};

uint64_t arenaBytesOf(const Program &program) {
  uint64_t bytes = 0;
  for (const Entry &entry : program.entries)
    bytes = std::max(bytes, entry.arenaBytes);
  return bytes;
}

Error CudaSession::checkMemory(const Program &program,
                               ArrayRef<Variable> fresh) const {
  size_t free = 0, total = 0;
  MP_CUDA(context->driver, cuMemGetInfo_v2, &free, &total);
  uint64_t usable = free + state.bytes();
  // While an arena grows, the old one and the new one exist.
  if (arenaBytesOf(program) <= arenaBytes)
    usable += arenaBytes;
  return checkFits(program, state.bytes() + bytesOf(fresh), /*workers=*/0,
                   {usable, formatv("the device has {0}, of which {1} are free",
                                    amountOf(total), amountOf(free))});
}

Expected<std::vector<CudaSession::Routines>>
CudaSession::createRoutines(const Program &program) const {
  std::vector<Routines> all;
  for (const Entry &entry : program.entries) {
    Routines &routines = all.emplace_back();
    RoutineContext routineContext{*context, kernels};
    for (const Step &step : entry.steps) {
      if (const auto *copy = std::get_if<Copy>(&step); copy && copy->flag)
        return makeError("'{0}': a copy with a flag does not run on cuda",
                         entry.function);
      const auto *call = std::get_if<Call>(&step);
      if (!call)
        continue;
      auto routine = createDeviceRoutine(*call, routineContext);
      if (!routine)
        return routine.takeError();
      routines.push_back(std::move(*routine));
    }
  }
  return all;
}

Error CudaSession::declare(std::vector<Variable> fresh) {
  auto memory = allocateDevice(context->driver, bytesOf(fresh), "variables");
  if (!memory)
    return memory.takeError();
  state.declare(std::move(fresh), memory->get());
  memories.push_back(std::move(*memory));
  return Error::success();
}

/// The addresses of the program's variables and buffers; copies its constants.
Expected<DeviceLinkage> CudaSession::resolve(const Program &program) {
  DeviceLinkage linkage;
  linkage.names = kernelNames(program);
  for (const Variable &variable : program.variables)
    linkage.variables.push_back(state.address(variable.name));
  for (const Kernel &kernel : program.kernels)
    linkage.kernels.push_back(kernels.find(kernel.symbol));
  for (const Constant &constant : program.constants) {
    uint64_t bytes = constant.bytes.size();
    auto memory = allocateDevice(context->driver, bytes, "a constant");
    if (!memory)
      return memory.takeError();
    if (Error error =
            context->copyToDevice(memory->get(), constant.bytes.data(), bytes))
      return error;
    linkage.constants.push_back(memory->get());
    memories.push_back(std::move(*memory));
  }
  return linkage;
}

/// Makes the arena as large as the program needs, and rebuilds the graphs,
/// which contain its address.
Error CudaSession::growArena(const Program &program) {
  uint64_t bytes = arenaBytesOf(program);
  if (bytes <= arenaBytes)
    return Error::success();
  if (Error error = context->synchronize())
    return error;
  auto larger = allocateDevice(context->driver, bytes, "the arena");
  if (!larger)
    return larger.takeError();
  arena = std::move(*larger);
  arenaBytes = bytes;
  for (const auto &executable : executables)
    if (Error error = executable->build())
      return error;
  return Error::success();
}

Error CudaSession::load(Program program) {
  if (program.target != "cuda")
    return makeError("the program is for target '{0}', but this session runs "
                     "'cuda'",
                     program.target);
  if (Error error =
          checkRanks(program, context->ranks ? context->ranks->size() : 1))
    return error;
  if (Error error = context->activate())
    return error;
  // Everything that can fail because of the program precedes all changes.
  Expected<std::vector<Variable>> fresh = state.fresh(program);
  if (!fresh)
    return fresh.takeError();
  if (Error error = checkMemory(program, *fresh))
    return error;
  if (Error error = kernels.load(program))
    return error;
  Expected<std::vector<Routines>> routines = createRoutines(program);
  if (!routines)
    return routines.takeError();
  if (Error error = growArena(program))
    return error;
  if (Error error = declare(std::move(*fresh)))
    return error;
  Expected<DeviceLinkage> linkage = resolve(program);
  if (!linkage)
    return linkage.takeError();
  for (auto [entry, list] : llvm::zip(program.entries, *routines)) {
    auto executable = std::make_unique<CudaExecutable>(
        std::move(entry), *linkage, std::move(list), *context, arena);
    if (Error error = executable->allocate())
      return error;
    if (Error error = executable->build())
      return error;
    executables.push_back(std::move(executable));
  }
  return Error::success();
}

Error CudaSession::initialize(uint64_t seed) {
  // Values are computed on the host, so that every device gets the same bits.
  ThreadPool pool(threads);
  std::vector<char> values;
  for (const Variable &variable : state.all()) {
    values.assign(variable.type.bytes(), 0);
    if (Error error = fill(variable, seed, values, pool,
                           context->ranks ? context->ranks->rank() : 0))
      return error;
    if (Error error = write(variable.name, values))
      return error;
  }
  return derive();
}

Error CudaSession::derive() {
  // Each program derives the variables that it declares.
  for (const auto &executable : executables)
    if (executable->entry().function == kDeriveEntry)
      if (auto done = executable->run({}); !done)
        return done.takeError();
  return Error::success();
}

Error CudaSession::read(StringRef variable, MutableArrayRef<char> bytes) {
  Expected<size_t> index = state.find(variable, bytes.size());
  if (!index)
    return index.takeError();
  if (Error error = context->synchronize())
    return error;
  return context->copyToHost(bytes.data(), state.address(*index), bytes.size());
}

Error CudaSession::write(StringRef variable, ArrayRef<char> bytes) {
  Expected<size_t> index = state.find(variable, bytes.size());
  if (!index)
    return index.takeError();
  if (Error error = context->synchronize())
    return error;
  return context->copyToDevice(state.address(*index), bytes.data(),
                               bytes.size());
}

Executable *CudaSession::find(StringRef function, int64_t batch) {
  // The latest program comes first, as a program loaded again replaces itself.
  for (const auto &executable : llvm::reverse(executables))
    if (executable->entry().isCalled(function) &&
        executable->entry().batch == batch)
      return executable.get();
  return nullptr;
}

} // namespace

Expected<std::unique_ptr<Session>>
createSession(const SessionOptions &options) {
  Expected<DeviceFacts> facts = examine(options.device.index);
  if (!facts)
    return facts.takeError();
  Expected<const Nvrtc &> nvrtc = openNvrtc();
  if (!nvrtc)
    return nvrtc.takeError();
  auto architecture = chooseArchitecture(*nvrtc, facts->major, facts->minor);
  if (!architecture)
    return architecture.takeError();
  auto context = DeviceContext::create(*facts);
  if (!context)
    return context.takeError();
  auto pool = std::make_unique<CompilePool>(*nvrtc, std::move(*architecture),
                                            CodeCache::open(options.onWarning),
                                            options.trace, options.threads);
  (*context)->trace = options.trace;
  (*context)->ranks = options.ranks;
  return std::make_unique<CudaSession>(std::move(*context), std::move(pool),
                                       options.threads);
}

} // namespace mp::cuda
