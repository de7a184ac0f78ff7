//===- Driver.cpp - compiles and runs modules that come on standard input -===//
//
// The side of the search that is under test; run.py has the other. One process
// takes many modules, so that starting up is not what the search spends its
// time on. A request is a line of JSON and then bytes:
//
//   {"module": text, "goal": "run" or "train", "batch": 0, "onednn": false,
//    "inputs": [[bytes of each argument], one list a run],
//    "variables": [[name, bytes]], "read": [names]}
//
// and then the variables' bytes and the inputs', in that order. The answer is
// {"runs": [[{"name", "type"}]], "variables": [type]} and the bytes of the
// results of every run and of the variables read, or {"error": text}.
//
//===----------------------------------------------------------------------===//
#include "codegen/Compile.h"
#include "runtime/Session.h"
#include "llvm/Support/JSON.h"
#include <iostream>

using namespace llvm;
using namespace mp;

namespace {

std::string readBytes(size_t count) {
  std::string bytes(count, '\0');
  std::cin.read(bytes.data(), count);
  return bytes;
}

/// What a request holds, its bytes included.
struct Request {
  CompileOptions options;
  std::string module;
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::vector<std::string>> runs;
  std::vector<std::string> read;

  /// Nothing at the end of the input. What run.py writes is taken as it is.
  static std::optional<Request> next() {
    std::string line;
    if (!std::getline(std::cin, line))
      return std::nullopt;
    json::Value value = cantFail(json::parse(line));
    const json::Object &object = *value.getAsObject();
    Request request;
    request.module = object.getString("module")->str();
    request.options.filename = "graph.mlir";
    request.options.goal =
        object.getString("goal") == "train" ? Goal::Train : Goal::Run;
    request.options.mode = Mode::Train; // dropout and batch norm as they stand
    request.options.batch = object.getInteger("batch").value_or(0);
    request.options.threads = 1;
    if (object.getBoolean("onednn").value_or(false))
      request.options.onednn = UseOnednn::Always;
    for (const json::Value &variable : *object.getArray("variables")) {
      const json::Array &pair = *variable.getAsArray();
      request.variables.emplace_back(pair[0].getAsString()->str(),
                                     readBytes(*pair[1].getAsInteger()));
    }
    for (const json::Value &run : *object.getArray("inputs")) {
      auto &inputs = request.runs.emplace_back();
      for (const json::Value &bytes : *run.getAsArray())
        inputs.push_back(readBytes(*bytes.getAsInteger()));
    }
    for (const json::Value &name : *object.getArray("read"))
      request.read.push_back(name.getAsString()->str());
    return request;
  }
};

/// What an answer says, and the bytes that follow it.
struct Answer {
  json::Array runs, variables;
  std::string bytes;
};

Error runOnce(Executable &executable, ArrayRef<std::string> inputs,
              Answer &answer) {
  const Entry &entry = executable.entry();
  std::vector<TensorView> views;
  for (auto [input, declared] : zip(inputs, entry.inputs))
    views.emplace_back(declared.type.element, input);
  Expected<Executable::Results> results = executable.run(views);
  if (!results)
    return results.takeError();
  json::Array described;
  for (auto [i, result] : enumerate(entry.results)) {
    described.push_back(
        json::Object{{"name", result.name}, {"type", result.type.str()}});
    ArrayRef<char> bytes = (*results)[i].bytes();
    answer.bytes.append(bytes.begin(), bytes.end());
  }
  answer.runs.push_back(std::move(described));
  return Error::success();
}

Error readVariables(Session &session, ArrayRef<std::string> names,
                    Answer &answer) {
  for (const std::string &name : names) {
    auto known = find_if(session.variables(), [&](const Variable &variable) {
      return variable.name == name;
    });
    if (known == session.variables().end())
      return createStringError("no variable is called '" + name + "'");
    std::vector<char> bytes(known->type.bytes());
    if (Error error = session.read(name, bytes))
      return error;
    answer.variables.push_back(known->type.str());
    answer.bytes.append(bytes.begin(), bytes.end());
  }
  return Error::success();
}

Expected<Answer> execute(Request request, Device device) {
  SessionOptions sessionOptions;
  sessionOptions.threads = 1;
  sessionOptions.device = device;
  Expected<std::unique_ptr<Session>> session = Session::create(sessionOptions);
  if (!session)
    return session.takeError();
  request.options.target = (*session)->target().str();
  request.options.arch = (*session)->arch();
  Expected<Program> program = compile(request.module, request.options);
  if (!program)
    return program.takeError();
  // The entry point that takes the inputs; `derive` is run by the session.
  std::string function;
  for (const Entry &entry : program->entries)
    if (entry.function != "derive")
      function = entry.function;
  int64_t batch = request.options.batch;
  if (Error error = (*session)->load(std::move(*program)))
    return std::move(error);
  if (Error error = (*session)->initialize(/*seed=*/0))
    return std::move(error);
  for (const auto &[name, bytes] : request.variables)
    if (Error error = (*session)->write(name, {bytes.data(), bytes.size()}))
      return std::move(error);
  if (Error error = (*session)->derive())
    return std::move(error);
  Executable *executable = (*session)->find(function, batch);
  if (!executable)
    return createStringError("the session does not find @" + function);
  Answer answer;
  for (const auto &inputs : request.runs)
    if (Error error = runOnce(*executable, inputs, answer))
      return std::move(error);
  if (Error error = readVariables(**session, request.read, answer))
    return std::move(error);
  return answer;
}

} // namespace

int main(int argc, char **argv) {
  std::ios::sync_with_stdio(false);
  Expected<DeviceChoice> device = chooseDevice(argc > 1 ? argv[1] : "cpu");
  if (!device) {
    errs() << toString(device.takeError()) << "\n";
    return 2;
  }
  while (std::optional<Request> request = Request::next()) {
    Expected<Answer> answer = execute(std::move(*request), device->device);
    if (!answer) {
      std::string text = toString(answer.takeError());
      outs() << json::Value(json::Object{{"error", json::fixUTF8(text)}})
             << "\n";
    } else {
      outs() << json::Value(
                    json::Object{{"runs", std::move(answer->runs)},
                                 {"variables", std::move(answer->variables)}})
             << "\n"
             << answer->bytes;
    }
    outs().flush();
  }
}
