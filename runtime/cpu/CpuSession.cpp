//===- CpuSession.cpp - a Session on this machine's cores -----------------===//
#include "runtime/cpu/CpuSession.h"
#include "program/Names.h"
#include "runtime/Initialize.h"
#include "runtime/MemoryPlan.h"
#include "runtime/Variables.h"
#include "runtime/cpu/Executor.h"
#include "runtime/ranks/CollectiveCall.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace mp;

namespace {

class CpuSession final : public Session {
public:
  CpuSession(const SessionOptions &options, std::unique_ptr<Jit> jit)
      : engine(options.threads, options.trace, options.ranks),
        jit(std::move(jit)) {}

  llvm::Error load(Program program) override;
  llvm::Error initialize(uint64_t seed) override;
  llvm::Error derive() override;
  llvm::ArrayRef<Variable> variables() const override { return state.all(); }
  llvm::Error read(llvm::StringRef variable,
                   llvm::MutableArrayRef<char> bytes) override;
  llvm::Error view(const Variable &variable,
                   llvm::function_ref<void(llvm::ArrayRef<char>)> see) override;
  llvm::Error write(llvm::StringRef variable,
                    llvm::ArrayRef<char> bytes) override;
  Executable *find(llvm::StringRef function, int64_t batch) override;
  uint64_t plannedBytes() const override;
  std::string describe() const override;

private:
  using Routines = std::vector<std::unique_ptr<Routine>>;

  llvm::Expected<std::vector<Routines>> createRoutines(const Program &program);
  llvm::Error prepare(llvm::ArrayRef<Routines> all);
  llvm::Error reserve(const Program &program,
                      llvm::ArrayRef<Routines> routines);
  llvm::Error declare(std::vector<Variable> fresh);
  llvm::Expected<Linkage> resolve(const Program &program);

  Engine engine;
  std::unique_ptr<Jit> jit;
  Variables<char *> state;
  std::vector<Memory> memories; ///< of variables and constants
  std::vector<std::unique_ptr<Executor>> executors;
};

/// Creates the routines of each entry point's calls, prepared on all workers.
llvm::Expected<std::vector<CpuSession::Routines>>
CpuSession::createRoutines(const Program &program) {
  std::vector<Routines> all;
  for (const Entry &entry : program.entries) {
    Routines &routines = all.emplace_back();
    RoutineContext context{engine.pool.threads(), engine.ranks.get()};
    for (const Step &step : entry.steps) {
      const auto *call = std::get_if<Call>(&step);
      if (!call)
        continue;
      auto routine = createRoutine(*call, context);
      if (!routine)
        return routine.takeError();
      routines.push_back(std::move(*routine));
    }
  }
  if (llvm::Error error = prepare(all))
    return error;
  return all;
}

/// Prepares all routines at once, since waking all workers takes time.
llvm::Error CpuSession::prepare(llvm::ArrayRef<Routines> all) {
  std::vector<std::string> problems(engine.pool.threads());
  auto prepareOn = [&](unsigned worker) -> llvm::Error {
    for (const Routines &routines : all)
      for (const auto &routine : routines)
        if (llvm::Error error = routine->prepare(worker))
          return error;
    return llvm::Error::success();
  };
  engine.pool.runOnEach([&](unsigned worker) {
    problems[worker] = llvm::toString(prepareOn(worker));
  });
  for (const std::string &problem : problems)
    if (!problem.empty())
      return llvm::createStringError(problem);
  return llvm::Error::success();
}

/// Reserves the arena and scratch that the program's entry points need.
llvm::Error CpuSession::reserve(const Program &program,
                                llvm::ArrayRef<Routines> routines) {
  uint64_t arenaBytes = 0, scratchBytes = 0;
  for (const Entry &entry : program.entries) {
    arenaBytes = std::max(arenaBytes, entry.arenaBytes);
    for (const Step &step : entry.steps)
      if (const auto *launch = std::get_if<Launch>(&step))
        scratchBytes = std::max(scratchBytes, launch->shared);
  }
  for (const Routines &list : routines)
    for (const auto &routine : list)
      scratchBytes = std::max(scratchBytes, routine->scratchBytes());
  if (llvm::Error error = engine.scratch.grow(scratchBytes))
    return error;
  if (arenaBytes <= engine.arena.size())
    return llvm::Error::success();
  if (llvm::Error error = engine.arena.grow(arenaBytes))
    return error;
  for (const auto &executor : executors)
    executor->resolveArena();
  return llvm::Error::success();
}

llvm::Error CpuSession::declare(std::vector<Variable> fresh) {
  llvm::Expected<Memory> memory = Memory::allocate(bytesOf(fresh), "variables");
  if (!memory)
    return memory.takeError();
  state.declare(std::move(fresh), memory->data());
  memories.push_back(std::move(*memory));
  return llvm::Error::success();
}

/// The addresses of the program's variables and buffers; copies its constants.
llvm::Expected<Linkage> CpuSession::resolve(const Program &program) {
  Linkage linkage;
  linkage.names = kernelNames(program);
  for (const Variable &variable : program.variables)
    linkage.variables.push_back(state.address(variable.name));
  for (const Kernel &kernel : program.kernels)
    linkage.kernels.push_back(jit->find(kernel.symbol));
  uint64_t bytes = 0;
  for (const Constant &constant : program.constants)
    bytes += alignToTensor(constant.bytes.size());
  llvm::Expected<Memory> memory = Memory::allocate(bytes, "constants");
  if (!memory)
    return memory.takeError();
  char *next = memory->data();
  for (const Constant &constant : program.constants) {
    linkage.constants.push_back(next);
    llvm::copy(constant.bytes, next);
    next += alignToTensor(constant.bytes.size());
  }
  memories.push_back(std::move(*memory));
  return linkage;
}

llvm::Error CpuSession::load(Program program) {
  TraceSpan span(engine.trace.get(), Trace::Kind::Compile, "link");
  if (program.target != "cpu")
    return llvm::createStringError("the program is for target '" +
                                   program.target +
                                   "', but this session runs 'cpu'");
  // Everything that can fail because of the program precedes all changes.
  if (llvm::Error error =
          checkRanks(program, engine.ranks ? engine.ranks->size() : 1))
    return error;
  llvm::Expected<std::vector<Variable>> fresh = state.fresh(program);
  if (!fresh)
    return fresh.takeError();
  uint64_t held = state.bytes() + engine.arena.size() + engine.scratch.size();
  if (llvm::Error error = checkFits(program, state.bytes() + bytesOf(*fresh),
                                    engine.pool.threads(), usableMemory(held)))
    return error;
  if (llvm::Error error = jit->link(program.kernels))
    return error;
  llvm::Expected<std::vector<Routines>> routines = createRoutines(program);
  if (!routines)
    return routines.takeError();
  if (llvm::Error error = reserve(program, *routines))
    return error;
  if (llvm::Error error = declare(std::move(*fresh)))
    return error;
  llvm::Expected<Linkage> linkage = resolve(program);
  if (!linkage)
    return linkage.takeError();
  for (auto [entry, list] : llvm::zip(program.entries, *routines))
    executors.push_back(std::make_unique<Executor>(std::move(entry), *linkage,
                                                   std::move(list), engine));
  return llvm::Error::success();
}

llvm::Error CpuSession::initialize(uint64_t seed) {
  for (const Variable &variable : state.all())
    if (llvm::Error error =
            fill(variable, seed,
                 {state.address(variable.name), variable.type.bytes()},
                 engine.pool, engine.ranks ? engine.ranks->rank() : 0))
      return error;
  return derive();
}

llvm::Error CpuSession::derive() {
  // Each program derives the variables that it declares.
  for (const auto &executor : executors)
    if (executor->entry().function == kDeriveEntry)
      executor->execute({});
  return engine.ranks ? engine.ranks->failure() : llvm::Error::success();
}

llvm::Error CpuSession::read(llvm::StringRef variable,
                             llvm::MutableArrayRef<char> bytes) {
  llvm::Expected<size_t> index = state.find(variable, bytes.size());
  if (!index)
    return index.takeError();
  std::memcpy(bytes.data(), state.address(*index), bytes.size());
  return llvm::Error::success();
}

llvm::Error
CpuSession::view(const Variable &variable,
                 llvm::function_ref<void(llvm::ArrayRef<char>)> see) {
  uint64_t bytes = variable.type.bytes();
  llvm::Expected<size_t> index = state.find(variable.name, bytes);
  if (!index)
    return index.takeError();
  see({state.address(*index), bytes});
  return llvm::Error::success();
}

llvm::Error CpuSession::write(llvm::StringRef variable,
                              llvm::ArrayRef<char> bytes) {
  llvm::Expected<size_t> index = state.find(variable, bytes.size());
  if (!index)
    return index.takeError();
  std::memcpy(state.address(*index), bytes.data(), bytes.size());
  return llvm::Error::success();
}

Executable *CpuSession::find(llvm::StringRef function, int64_t batch) {
  // The latest program comes first, as a program loaded again replaces itself.
  for (const auto &executor : llvm::reverse(executors))
    if (executor->entry().isCalled(function) &&
        executor->entry().batch == batch)
      return executor.get();
  return nullptr;
}

std::string CpuSession::describe() const {
  return hostCpu().str() + ", " + std::to_string(engine.pool.threads()) +
         " threads";
}

uint64_t CpuSession::plannedBytes() const {
  uint64_t arenaBytes = 0;
  for (const auto &executor : executors)
    arenaBytes = std::max(arenaBytes, executor->entry().arenaBytes);
  return state.bytes() + arenaBytes;
}

} // namespace

llvm::Expected<std::unique_ptr<Session>>
mp::createCpuSession(const SessionOptions &options) {
  llvm::Expected<std::unique_ptr<Jit>> jit = Jit::create();
  if (!jit)
    return jit.takeError();
  return std::make_unique<CpuSession>(options, std::move(*jit));
}
