//===- TrainingSession.h - a recipe's step, number by number --------------===//
#ifndef MP_TEST_UNIT_TRAININGSESSION_H
#define MP_TEST_UNIT_TRAININGSESSION_H

#include "GoldenFunction.h"
#include "gtest/gtest.h"
#include <map>

namespace mp::test {

/// Compiles a module's one recipe, for the target of a session.
inline Program compileStep(llvm::StringRef module, int64_t batch,
                           llvm::StringRef target = "cpu",
                           llvm::StringRef arch = "") {
  CompileOptions options;
  options.batch = batch;
  options.target = target.str();
  options.arch = arch.str();
  return llvm::cantFail(compile(module, options));
}

/// A session with one recipe whose step, or its function for micro-batches, has
/// one input of f32, and access to its numbers.
class TrainingSession {
public:
  TrainingSession(llvm::StringRef module, int64_t batch, Device device = {}) {
    SessionOptions options;
    options.threads = 1;
    options.device = device;
    session = llvm::cantFail(Session::create(options));
    program = compileStep(module, batch, session->target(), session->arch());
    llvm::cantFail(session->load(program));
    llvm::cantFail(session->initialize(/*seed=*/0));
    gather = session->find("accumulate", batch);
    step = gather ? session->find("apply", 0) : session->find("step", batch);
  }

  /// Elements of a variable.
  Numbers read(llvm::StringRef name) {
    const TensorType &type = typeOf(name);
    std::string bytes(type.bytes(), '\0');
    llvm::cantFail(session->read(name, {bytes.data(), bytes.size()}));
    return unpack(bytes.data(), type);
  }
  /// Changes a variable as a user would: derived variables follow.
  void write(llvm::StringRef name, const Numbers &numbers) {
    std::string bytes = pack(numbers, typeOf(name).element);
    llvm::cantFail(session->write(name, {bytes.data(), bytes.size()}));
    llvm::cantFail(session->derive());
  }
  /// Runs one step; returns its results that are one number, by name.
  std::map<std::string, double> run(const Numbers &input) {
    return runWindow(input);
  }
  /// The same for a recipe that accumulates: an input for each micro-batch.
  std::map<std::string, double> runWindow(llvm::ArrayRef<Numbers> inputs) {
    Executable::Results results;
    for (const Numbers &input : inputs) {
      std::string bytes = pack(input, ElementType::F32);
      results = llvm::cantFail(
          (gather ? gather : step)->run({{ElementType::F32, bytes}}));
    }
    if (gather)
      results = llvm::cantFail(step->run({}));
    std::map<std::string, double> numbers;
    for (auto [index, result] : llvm::enumerate(step->entry().results))
      if (result.type.shape.empty())
        numbers[result.name] = unpack(results[index].data(), result.type)[0];
    return numbers;
  }
  /// Runs one step; returns whether it is skipped.
  bool skips(const Numbers &input) {
    auto results = run(input);
    if (!results.count("skipped"))
      ADD_FAILURE() << "no result skipped";
    return results["skipped"];
  }

  llvm::ArrayRef<Variable> variables() const { return session->variables(); }

  Program program;

private:
  const TensorType &typeOf(llvm::StringRef name) const {
    for (const Variable &variable : session->variables())
      if (variable.name == name)
        return variable.type;
    llvm::reportFatalUsageError("no variable " + name);
  }

  std::unique_ptr<Session> session;
  Executable *step = nullptr, *gather = nullptr; ///< null: no micro-batches
};

} // namespace mp::test

#endif // MP_TEST_UNIT_TRAININGSESSION_H
