//===- NumberFunction.cpp - runs a function of a module on numbers --------===//
#include "precision/gradients/NumberFunction.h"
#include "codegen/Compile.h"
#include "runtime/data/Convert.h"

using namespace llvm;

namespace mp::precision {

std::string pack(const Numbers &numbers, ElementType type) {
  unsigned width = byteWidth(type);
  std::string bytes(numbers.size() * width, '\0');
  for (size_t i = 0; i < numbers.size(); ++i)
    storeElement(type, numbers[i], &bytes[i * width]);
  return bytes;
}

Numbers unpack(const void *bytes, const TensorType &type) {
  Numbers numbers(type.elements());
  const char *next = static_cast<const char *>(bytes);
  for (double &number : numbers) {
    number = loadElement(type.element, next);
    next += byteWidth(type.element);
  }
  return numbers;
}

Expected<NumberFunction> NumberFunction::compile(StringRef module,
                                                 StringRef wanted,
                                                 Device device,
                                                 unsigned threads) {
  Expected<std::unique_ptr<Session>> session =
      Session::create({threads, device});
  if (!session)
    return session.takeError();
  CompileOptions options;
  options.target = (*session)->target().str();
  options.arch = (*session)->arch();
  options.filename = "function.mlir";
  options.goal = Goal::Run;
  options.mode = Mode::Train; // leaves ops unchanged
  options.function = wanted.str();
  Expected<Program> program = mp::compile(module, options);
  if (!program)
    return program.takeError();
  if (program->entries.empty())
    return createStringError("program has no entry point");
  std::string function = program->entries.front().function;
  int64_t batch = program->entries.front().batch;

  NumberFunction result;
  result.session = std::move(*session);
  if (Error error = result.session->load(std::move(*program)))
    return std::move(error);
  if (Error error = result.session->initialize(/*seed=*/0))
    return std::move(error);
  result.executable = result.session->find(function, batch);
  if (!result.executable)
    return createStringError("session does not find " + function);
  return std::move(result);
}

Expected<std::vector<Numbers>>
NumberFunction::operator()(ArrayRef<Numbers> inputs) {
  const Entry &entry = executable->entry();
  if (inputs.size() != entry.inputs.size())
    return createStringError("function takes %zu arguments, got %zu",
                             entry.inputs.size(), inputs.size());
  std::vector<std::string> bytes;
  for (auto [numbers, input] : zip_equal(inputs, entry.inputs)) {
    if (numbers.size() != static_cast<size_t>(input.type.elements()))
      return createStringError("argument of type " + input.type.str() +
                               " got " + Twine(numbers.size()) + " elements");
    bytes.push_back(pack(numbers, input.type.element));
  }
  auto outputs = runBytes(bytes);
  if (!outputs)
    return outputs.takeError();
  std::vector<Numbers> results;
  for (auto [output, result] : zip_equal(*outputs, entry.results))
    results.push_back(unpack(output.data(), result.type));
  return results;
}

Expected<std::vector<std::string>>
NumberFunction::runBytes(ArrayRef<std::string> inputs) {
  std::vector<TensorView> views;
  for (auto [bytes, input] : zip_equal(inputs, entry().inputs))
    views.emplace_back(input.type.element, bytes);
  // The behaviour of kernels at an index out of range is tested too.
  Expected<Executable::Results> outputs =
      executable->run(views, Executable::Ranges::Known);
  if (!outputs)
    return outputs.takeError();
  std::vector<std::string> results;
  for (size_t i = 0; i < outputs->size(); ++i)
    results.emplace_back((*outputs)[i].bytes().data(),
                         (*outputs)[i].bytes().size());
  return results;
}

} // namespace mp::precision
