//===- Session.cpp - loads Programs and runs their entry points -----------===//
#include "runtime/Session.h"
#include "runtime/Executor.h"
#include "runtime/Initialize.h"
#include "runtime/MemoryPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mp;

namespace {

class LocalSession final : public Session {
public:
  LocalSession(unsigned threads, std::unique_ptr<Jit> jit)
      : engine(threads), jit(std::move(jit)) {}

  llvm::Error load(Program program) override;
  llvm::Error initialize(uint64_t seed) override;
  void derive() override;
  llvm::ArrayRef<Variable> variables() const override { return declared; }
  llvm::MutableArrayRef<char> storage(llvm::StringRef variable) override;
  Executable *find(llvm::StringRef function, int64_t batch) override;
  uint64_t plannedBytes() const override;
  unsigned threads() const override { return engine.pool.threads(); }

private:
  using Routines = std::vector<std::unique_ptr<Routine>>;

  llvm::Expected<std::vector<Variable>> newVariables(const Program &program);
  llvm::Expected<std::vector<Routines>> createRoutines(const Program &program);
  llvm::Error prepare(llvm::ArrayRef<Routines> all);
  llvm::Error reserve(const Program &program,
                      llvm::ArrayRef<Routines> routines);
  llvm::Error declare(std::vector<Variable> fresh);
  llvm::Expected<Linkage> resolve(const Program &program);

  Engine engine;
  std::unique_ptr<Jit> jit;
  std::vector<Variable> declared;
  std::vector<char *> addresses; ///< of `declared`
  llvm::StringMap<size_t> indices;
  std::vector<Memory> memories; ///< of variables and constants
  uint64_t variableBytes = 0;
  std::vector<std::unique_ptr<Executor>> executors;
};

std::string describe(const Variable &variable) {
  return variableKindName(variable.kind).str() + " of type " +
         variable.type.str();
}

llvm::Error disagree(const Variable &known, const Variable &other) {
  std::string at = other.location.str();
  std::string what = describe(known), instead = describe(other);
  if (what == instead)
    instead += " with another initializer";
  return llvm::createStringError((at.empty() ? "" : at + ": ") + "variable '" +
                                 other.name + "' is a " + instead +
                                 ", but was loaded as a " + what);
}

/// The program's variables that this session does not have yet, each once.
llvm::Expected<std::vector<Variable>>
LocalSession::newVariables(const Program &program) {
  std::vector<Variable> fresh;
  llvm::StringMap<const Variable *> known;
  for (const Variable &variable : declared)
    known[variable.name] = &variable;
  for (const Variable &variable : program.variables) {
    auto [place, isNew] = known.try_emplace(variable.name, &variable);
    const Variable &other = *place->second;
    if (isNew)
      fresh.push_back(variable);
    else if (other.kind != variable.kind || other.type != variable.type ||
             other.init != variable.init)
      return disagree(other, variable);
  }
  return fresh;
}

/// For every entry point the routines of its calls, prepared on all workers.
llvm::Expected<std::vector<LocalSession::Routines>>
LocalSession::createRoutines(const Program &program) {
  std::vector<Routines> all;
  for (const Entry &entry : program.entries) {
    Routines &routines = all.emplace_back();
    for (const Step &step : entry.steps) {
      const auto *call = std::get_if<Call>(&step);
      if (!call)
        continue;
      auto routine = createRoutine(*call, engine.pool.threads());
      if (!routine)
        return routine.takeError();
      routines.push_back(std::move(*routine));
    }
  }
  if (llvm::Error error = prepare(all))
    return error;
  return all;
}

/// All routines at one go, since gathering the workers takes its time.
llvm::Error LocalSession::prepare(llvm::ArrayRef<Routines> all) {
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

/// Arena and scratch for whatever the program's entry points need.
llvm::Error LocalSession::reserve(const Program &program,
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

uint64_t bytesOf(llvm::ArrayRef<Variable> variables) {
  uint64_t bytes = 0;
  for (const Variable &variable : variables)
    bytes += alignToTensor(variable.type.bytes());
  return bytes;
}

llvm::Error LocalSession::declare(std::vector<Variable> fresh) {
  uint64_t bytes = bytesOf(fresh);
  llvm::Expected<Memory> memory = Memory::allocate(bytes, "variables");
  if (!memory)
    return memory.takeError();
  char *next = memory->data();
  for (Variable &variable : fresh) {
    indices[variable.name] = declared.size();
    addresses.push_back(next);
    next += alignToTensor(variable.type.bytes());
    declared.push_back(std::move(variable));
  }
  variableBytes += bytes;
  memories.push_back(std::move(*memory));
  return llvm::Error::success();
}

/// The addresses behind the program's indices; copies its constants.
llvm::Expected<Linkage> LocalSession::resolve(const Program &program) {
  Linkage linkage;
  for (const Variable &variable : program.variables)
    linkage.variables.push_back(addresses[indices.lookup(variable.name)]);
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

llvm::Error LocalSession::load(Program program) {
  if (program.target != "cpu")
    return llvm::createStringError("the program is for target '" +
                                   program.target +
                                   "', but this session runs 'cpu'");
  // What can fail for the program's sake comes before anything changes.
  llvm::Expected<std::vector<Variable>> fresh = newVariables(program);
  if (!fresh)
    return fresh.takeError();
  if (llvm::Error error =
          checkFits(program, variableBytes + bytesOf(*fresh), usableMemory()))
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

llvm::Error LocalSession::initialize(uint64_t seed) {
  for (const Variable &variable : declared)
    if (llvm::Error error =
            fill(variable, seed, storage(variable.name), engine.pool))
      return error;
  derive();
  return llvm::Error::success();
}

void LocalSession::derive() {
  // Each program derives the variables that it declares itself.
  for (const auto &executor : executors)
    if (executor->entry().function == "derive")
      executor->run({});
}

llvm::MutableArrayRef<char> LocalSession::storage(llvm::StringRef variable) {
  auto found = indices.find(variable);
  if (found == indices.end())
    return {};
  size_t index = found->second;
  return {addresses[index], declared[index].type.bytes()};
}

Executable *LocalSession::find(llvm::StringRef function, int64_t batch) {
  // The one loaded last: a program loaded again replaces itself.
  for (const auto &executor : llvm::reverse(executors))
    if (executor->entry().function == function &&
        executor->entry().batch == batch)
      return executor.get();
  return nullptr;
}

uint64_t LocalSession::plannedBytes() const {
  uint64_t arenaBytes = 0;
  for (const auto &executor : executors)
    arenaBytes = std::max(arenaBytes, executor->entry().arenaBytes);
  return variableBytes + arenaBytes;
}

} // namespace

llvm::Expected<std::unique_ptr<Session>>
Session::create(const SessionOptions &options) {
  llvm::Expected<std::unique_ptr<Jit>> jit = Jit::create();
  if (!jit)
    return jit.takeError();
  return std::make_unique<LocalSession>(options.threads, std::move(*jit));
}
