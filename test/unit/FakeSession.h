//===- FakeSession.h - a Session and a compiler without machine code ------===//
//
// A tiny model for tests of the code around a Session: `step` moves one weight
// by the mean of the labels in a way that depends on their order, `evaluate`
// compares labels with the weight. The formulas stand below; nothing is
// JIT-compiled.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_FAKESESSION_H
#define MP_TEST_UNIT_FAKESESSION_H

#include "program/Compiler.h"
#include "runtime/Profile.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>
#include <cstring>
#include <map>
#include <memory>

namespace mp::test {

class FakeSession;

class FakeExecutable : public Executable {
public:
  FakeExecutable(FakeSession &session, Entry entry)
      : session(session), declared(std::move(entry)) {}
  const Entry &entry() const override { return declared; }
  llvm::Expected<Results> results(Ticket ticket) override;

protected:
  llvm::Expected<Ticket> start(Inputs inputs) override {
    compute(inputs);
    return runs++;
  }
  llvm::Expected<Profile> measure(Inputs inputs) override {
    compute(inputs);
    return Profile{.copyGbps = 1, .graphNodes = declared.steps.size()};
  }

private:
  void compute(Inputs inputs);

  Ticket runs = 0;
  FakeSession &session;
  Entry declared;
  float values[2][8] = {}; ///< of the last two runs
  const void *addresses[8] = {};
};

class FakeSession : public Session {
public:
  llvm::Error load(Program program) override {
    for (const Variable &variable : program.variables)
      if (!bytes.count(variable.name)) {
        all.push_back(variable);
        bytes[variable.name].resize(variable.type.bytes());
      }
    for (Entry &entry : program.entries) {
      auto key = std::make_pair(entry.function, entry.batch);
      // An executable is kept once it was returned.
      auto &executable = executables[key];
      if (!executable)
        executable = std::make_unique<FakeExecutable>(*this, std::move(entry));
    }
    return llvm::Error::success();
  }
  llvm::Error initialize(uint64_t seed) override {
    for (auto &[name, storage] : bytes)
      std::fill(storage.begin(), storage.end(), 0);
    at<float>("w")[0] = 1 + 0.5f * seed;
    return derive();
  }
  llvm::Error derive() override {
    if (bytes.count("w.copy"))
      at<float>("w.copy")[0] = at<float>("w")[0];
    return llvm::Error::success();
  }
  llvm::ArrayRef<Variable> variables() const override { return all; }
  llvm::Error read(llvm::StringRef name,
                   llvm::MutableArrayRef<char> to) override {
    llvm::copy(bytes.at(name.str()), to.begin());
    return llvm::Error::success();
  }
  llvm::Error write(llvm::StringRef name, llvm::ArrayRef<char> from) override {
    llvm::copy(from, bytes.at(name.str()).begin());
    return llvm::Error::success();
  }
  Executable *find(llvm::StringRef function, int64_t batch) override {
    auto found = executables.find({function.str(), batch});
    return found == executables.end() ? nullptr : found->second.get();
  }
  uint64_t plannedBytes() const override { return 4096; }
  std::string describe() const override { return "fake"; }
  unsigned stepsInFlight() const override { return inFlight; }

  unsigned inFlight = 1;

  template <typename T> T *at(const std::string &name) {
    return reinterpret_cast<T *>(bytes.at(name).data());
  }

private:
  std::vector<Variable> all;
  std::map<std::string, std::vector<char>> bytes;
  std::map<std::pair<std::string, int64_t>, std::unique_ptr<FakeExecutable>>
      executables;
};

/// `step` at attempt t: every fifth is skipped. Else m = 0.9 m + mean(labels +
/// index), w = w - m / 128; loss is w, scale halves at each skip. `evaluate`:
/// accuracy is the share of labels below five, loss is w's derived copy.
/// `accumulate` gathers labels, of which `apply` takes the mean.
inline void FakeExecutable::compute(Inputs inputs) {
  float *results = values[runs % 2];
  auto *labels = inputs.empty()
                     ? nullptr
                     : static_cast<const unsigned char *>(inputs.back().data());
  if (declared.function == "accumulate") {
    float &rows = session.at<float>("rows")[0];
    for (int64_t i = 0; i < declared.batch; ++i, ++rows)
      session.at<float>("sum")[0] += labels[i] * (1 + 0.01f * rows);
    return;
  }
  if (declared.function == "evaluate") {
    float low = 0;
    for (int64_t i = 0; i < declared.batch; ++i)
      low += labels[i] < 5;
    results[0] = low / declared.batch;
    results[1] = session.at<float>("w.copy")[0];
    return;
  }
  int64_t &attempt = session.at<int64_t>("attempt")[0];
  float &w = session.at<float>("w")[0], &m = session.at<float>("w.m")[0];
  float &backoff = session.at<float>("backoff")[0];
  bool skipped = ++attempt % 5 == 0;
  float mean = 0, rows = declared.batch;
  for (int64_t i = 0; i < declared.batch; ++i)
    mean += labels[i] * (1 + 0.01f * i) / declared.batch;
  if (declared.function == "apply") {
    rows = std::exchange(session.at<float>("rows")[0], 0);
    mean = std::exchange(session.at<float>("sum")[0], 0) / rows;
  }
  results[0] = w;
  results[1] = 1024 / (1 + backoff);
  std::memset(&results[2], skipped, 1);
  results[3] = 0.001f * (1 - 0.01f * attempt);
  results[4] = mean;
  results[5] = rows;
  backoff += skipped;
  if (skipped)
    return;
  m = 0.9f * m + mean;
  w -= m / 128;
  session.at<float>("w.copy")[0] = w;
}

inline llvm::Expected<Executable::Results>
FakeExecutable::results(Ticket ticket) {
  if (ticket >= runs || ticket + session.inFlight < runs)
    return llvm::createStringError("results that are not kept");
  for (size_t i = 0; i < std::size(addresses); ++i)
    addresses[i] = &values[ticket % 2][i];
  return Results(declared, addresses);
}

inline llvm::Expected<std::unique_ptr<Session>>
createFakeSession(const SessionOptions &) {
  return std::make_unique<FakeSession>();
}

/// "Compiles" any text to the model above. Texts that hold "broken" fail,
/// "wide" gives the weight two elements, "lossless" leaves the loss out,
/// "windows" asks for four micro-batches, "histories" keeps magnitudes.
struct FakeCompiler {
  std::shared_ptr<std::atomic<int>> calls =
      std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<int64_t>> totalSteps =
      std::make_shared<std::atomic<int64_t>>(0);

  static std::vector<Variable> variables(bool wide) {
    TensorType scalar{ElementType::F32, {}}, pair{ElementType::F32, {2}};
    TensorType weight = wide ? pair : scalar;
    return {{"w", VariableKind::Parameter, weight, {}, {"net.mlir", 2, 3}},
            {"w.m", VariableKind::Slot, weight, {}, {"net.mlir", 2, 3}},
            {"w.copy", VariableKind::Derived, weight, {}, {}},
            {"backoff", VariableKind::Scaler, scalar, {}, {}},
            {"attempt", VariableKind::Attempt, {ElementType::I64, {}}, {}, {}},
            {"sum", VariableKind::Window, scalar, {}, {}},
            {"rows", VariableKind::Window, scalar, {}, {}}};
  }

  static Entry entry(Goal goal, int64_t batch) {
    TensorType scalar{ElementType::F32, {}};
    Entry entry;
    entry.batch = batch;
    entry.inputs = {{"label", {ElementType::U8, {batch}}, {}, {}, {}}};
    if (goal == Goal::Evaluate) {
      entry.function = "evaluate";
      entry.results = {{"accuracy", scalar, {}}, {"loss", scalar, {}}};
    } else {
      entry.function = "step";
      entry.results = {{"loss", scalar, {}},
                       {"scale", scalar, {}},
                       {"skipped", {ElementType::I1, {}}, {}},
                       {"lr", scalar, {}},
                       {"grad_norm", scalar, {}},
                       {"rows", scalar, {}}};
    }
    return entry;
  }

  llvm::Expected<Program> operator()(llvm::StringRef text,
                                     const CompileOptions &options,
                                     KernelSink *) const {
    ++*calls;
    if (text.contains("broken"))
      return llvm::createStringError("net.mlir:1:1: error: broken");
    Program program;
    program.module = "fake";
    program.arch = "any";
    auto column = [](const char *pattern) {
      return DataColumn{"label", pattern, "idx", "", ElementType::U8, {}};
    };
    program.data = {{"train", {column("train*")}, {"net.mlir", 5, 1}},
                    {"test", {column("test*")}, {"net.mlir", 6, 1}}};
    program.accumulate = options.accumulate         ? options.accumulate
                         : text.contains("windows") ? 4
                                                    : 1;
    program.scaler = options.scaler;
    if (options.goal == Goal::Inspect)
      return program;
    if (options.goal == Goal::Train)
      *totalSteps = options.totalSteps;
    if (options.onCasts)
      options.onCasts("[" + std::to_string(options.batch) + "]");
    program.variables = variables(text.contains("wide"));
    if (text.contains("histories"))
      program.variables.push_back({"w.amax",
                                   VariableKind::Buffer,
                                   {ElementType::F32, {}},
                                   {},
                                   {},
                                   {VariableRole::Kind::History}});
    program.entries = {entry(options.goal, options.batch)};
    if (options.goal == Goal::Train && program.accumulate > 1) {
      Entry &gather = program.entries[0], apply = gather;
      apply.function = "apply";
      apply.batch = 0;
      apply.inputs.clear();
      gather.function = "accumulate";
      gather.results.clear();
      program.entries = {apply, gather};
    }
    if (text.contains("lossless"))
      program.entries[0].results[0].name = "los";
    return program;
  }
};

} // namespace mp::test

#endif // MP_TEST_UNIT_FAKESESSION_H
