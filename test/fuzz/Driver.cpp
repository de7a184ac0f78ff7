//===- Driver.cpp - compiles and runs modules that come on standard input -===//
//
// The driver of the search; run.py has the other side. One process takes many
// modules, so that the search does not spend its time on starting up. A request
// is a line of JSON and then bytes:
//
//   {"module": text, "goal": "run", "train" or "decode", "batch": 0,
//    "onednn": false,
//    "precision": "fp16", "policy": "torch", "accumulate": micro-batches a
//    step, "chunks": parts of the rows of a loss, or "", "recompute": false
//    or true, to keep as little for backward as can be,
//    "inputs": [[bytes of each argument], one list a run or micro-batch],
//    "variables": [[name, bytes]], "read": [names]}
//
// To decode, it also has the names of the arguments, which of them is the text,
// and how many tokens of it a call takes.
//
// With the argument `ranks`, micro-batches are taken by ranks, one each, which
// are threads, on CUDA with a device each; all must then answer alike, with the
// state of the optimizer whole and divided among them.
//
// and then the variables' bytes and the inputs', in that order. The answer is
// {"runs": [[{"name", "type"}]], "variables": [type]} and the bytes of the
// results of every run or step and of the variables read, or {"error": text}.
//
//===----------------------------------------------------------------------===//
#include "codegen/Compile.h"
#include "program/Names.h"
#include "runtime/Session.h"
#include "runtime/ranks/ThreadRanks.h"
#include "runtime/train/WholeSession.h"
#include "support/Json.h"
#include "tools/Tools.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/thread.h"
#include <iostream>

using namespace llvm;
using namespace mp;

namespace {

std::string readBytes(size_t count) {
  std::string bytes(count, '\0');
  std::cin.read(bytes.data(), count);
  return bytes;
}

/// The content of a request, its bytes included.
struct Request {
  CompileOptions options;
  std::string module;
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::vector<std::string>> runs;
  std::vector<std::string> read, arguments;
  bool recompute = false;

  /// Reads a request; nothing at the end of the input. The output of run.py is
  /// not checked.
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
        *StringSwitch<std::optional<Goal>>(*object.getString("goal"))
             .Case("train", Goal::Train)
             .Case("decode", Goal::Decode)
             .Default(Goal::Run);
    request.options.mode = Mode::Train; // dropout and batch norm as they stand
    request.options.batch = object.getInteger("batch").value_or(0);
    request.options.precision = object.getString("precision")->str();
    request.options.policy = object.getString("policy")->str();
    request.options.accumulate = *object.getInteger("accumulate");
    request.options.lossChunks = object.getString("chunks").value_or("").str();
    request.recompute = object.getBoolean("recompute").value_or(false);
    request.options.threads = 1;
    request.options.onednn = object.getBoolean("onednn").value_or(false);
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
    if (request.options.goal == Goal::Decode) {
      request.options.text = object.getString("text")->str();
      request.options.tokens = *object.getInteger("tokens");
      for (const json::Value &name : *object.getArray("arguments"))
        request.arguments.push_back(name.getAsString()->str());
    }
    for (const json::Value &name : *object.getArray("read"))
      request.read.push_back(name.getAsString()->str());
    return request;
  }
};

/// The content of an answer, and the bytes after it.
struct Answer {
  json::Array runs, variables;
  std::string bytes;
};

Expected<Executable::Results> runOnce(Executable &executable,
                                      ArrayRef<std::string> inputs) {
  std::vector<TensorView> views;
  for (auto [input, declared] : zip(inputs, executable.entry().inputs))
    views.emplace_back(declared.type.element, input);
  return executable.run(views);
}

void describe(const Entry &entry, const Executable::Results &results,
              Answer &answer) {
  json::Array described;
  for (auto [i, result] : enumerate(entry.results)) {
    described.push_back(
        json::Object{{"name", result.name}, {"type", result.type.str()}});
    ArrayRef<char> bytes = results[i].bytes();
    answer.bytes.append(bytes.begin(), bytes.end());
  }
  answer.runs.push_back(std::move(described));
}

/// Runs the entry point that takes the inputs, and after each window of
/// micro-batches the one that applies it. One of several ranks runs its own
/// micro-batch of each window.
Error runAll(Session &session, StringRef function, const Request &request,
             const Communicator *ranks, Answer &answer) {
  int64_t batch = request.options.batch;
  int64_t window = std::max<int64_t>(request.options.accumulate, 1);
  bool gathers = window > 1 && !ranks;
  Executable *executable =
      session.find(gathers ? "accumulate" : function, batch);
  Executable *apply = gathers ? session.find("apply", 0) : nullptr;
  if (!executable || (gathers && !apply))
    return createStringError("the session does not find @" + function);
  for (auto [i, inputs] : enumerate(request.runs)) {
    if (ranks && int64_t(i % window) != ranks->rank())
      continue;
    Expected<Executable::Results> results = runOnce(*executable, inputs);
    if (!results)
      return results.takeError();
    if (!gathers) {
      describe(executable->entry(), *results, answer);
      continue;
    }
    if ((i + 1) % window != 0)
      continue;
    Expected<Executable::Results> applied = runOnce(*apply, {});
    if (!applied)
      return applied.takeError();
    describe(apply->entry(), *applied, answer);
  }
  return Error::success();
}

/// Gives a text a few tokens at a time to a network, after what it is written
/// from, and gathers the results of all tokens.
class TextRun {
public:
  TextRun(Session &session, const Request &request, size_t run)
      : session(session), request(request), inputs(request.runs[run]) {}

  Expected<json::Array> execute(std::string &bytes) {
    int64_t batch = request.options.batch;
    if (Executable *source = session.find(kEncodeEntry, batch))
      if (auto read = call(*source, 0); !read)
        return read.takeError();
    Executable *one = session.find(kDecodeEntry, batch);
    int64_t many = request.options.tokens, tokens = count(*one);
    Executable *several = session.find(decodeEntry(many), batch);
    bool hasState = any_of(session.variables(), [](const Variable &variable) {
      return StringRef(variable.name).starts_with(kStateVariable);
    });
    bool isOne = false; // calls of several tokens and of one take turns
    for (int64_t first = 0; first < tokens; isOne = !isOne && many > 1) {
      // The last tokens may be computed again, unless a state follows them.
      bool isShort = hasState && tokens - first < many;
      Executable &entry = isOne || isShort ? *one : *several;
      int64_t taken = isOne || isShort ? 1 : many,
              begin = std::min(first, tokens - taken);
      auto results = call(entry, begin);
      if (!results)
        return results.takeError();
      gather(entry.entry(), *results, begin, tokens);
      first = begin + taken;
    }
    json::Array described;
    for (auto [result, all] : zip_equal(one->entry().results, gathered)) {
      TensorType type = result.type;
      type.shape[1] = tokens;
      described.push_back(
          json::Object{{"name", result.name}, {"type", type.str()}});
      bytes += all;
    }
    return described;
  }

private:
  StringRef given(StringRef name) const {
    for (auto [known, bytes] : zip_equal(request.arguments, inputs))
      if (known == name)
        return bytes;
    return "";
  }

  /// The tokens of a text.
  int64_t count(const Executable &one) const {
    return given(request.options.text).size() /
           one.entry().inputs[0].type.bytes();
  }

  Expected<Executable::Results> call(Executable &entry, int32_t position) {
    std::vector<std::string> own;
    for (const Input &input : entry.entry().inputs)
      own.push_back(input.name == request.options.text ? part(input, position)
                    : input.name == kPositionInput
                        ? std::string(reinterpret_cast<char *>(&position),
                                      sizeof(position))
                        : given(input.name).str());
    return runOnce(entry, own);
  }

  /// The tokens from a position on, of each text.
  std::string part(const Input &input, int64_t position) const {
    int64_t texts = input.type.shape[0];
    size_t width = input.type.bytes() / texts,
           token = width / input.type.shape[1];
    StringRef all = given(request.options.text);
    std::string taken;
    for (int64_t text = 0; text < texts; ++text)
      taken += all.substr(text * all.size() / texts + position * token, width);
    return taken;
  }

  void gather(const Entry &entry, const Executable::Results &results,
              int64_t position, int64_t tokens) {
    gathered.resize(entry.results.size());
    for (auto [i, result] : enumerate(entry.results)) {
      int64_t texts = result.type.shape[0], rows = result.type.shape[1];
      size_t row = result.type.bytes() / (texts * rows);
      gathered[i].resize(texts * tokens * row);
      for (int64_t text = 0; text < texts; ++text)
        std::memcpy(&gathered[i][(text * tokens + position) * row],
                    results[i].bytes().data() + text * rows * row, rows * row);
    }
  }

  Session &session;
  const Request &request;
  ArrayRef<std::string> inputs;
  std::vector<std::string> gathered; ///< the results of all tokens
};

Error runTexts(Session &session, const Request &request, Answer &answer) {
  for (size_t run = 0; run < request.runs.size(); ++run) {
    auto described = TextRun(session, request, run).execute(answer.bytes);
    if (!described)
      return described.takeError();
    answer.runs.push_back(std::move(*described));
  }
  return Error::success();
}

/// Loads a network that takes a token of a text, and if they are asked for,
/// several, and what the text is written from, if there is anything.
Error loadTexts(Session &session, Request request) {
  int64_t several = std::exchange(request.options.tokens, 1);
  auto load = [&](Goal goal, int64_t tokens) -> Expected<bool> {
    request.options.goal = goal;
    request.options.tokens = tokens;
    Expected<Program> program = compile(request.module, request.options);
    if (!program)
      return program.takeError();
    bool hasSource = any_of(program->variables, [](const Variable &variable) {
      return StringRef(variable.name).starts_with(kSourceVariable);
    });
    if (Error error = session.load(std::move(*program)))
      return std::move(error);
    return hasSource;
  };
  auto hasSource = load(Goal::Decode, 1);
  if (hasSource && *hasSource)
    hasSource = load(Goal::Encode, 1);
  if (hasSource && several > 1)
    hasSource = load(Goal::Decode, several);
  return hasSource ? Error::success() : hasSource.takeError();
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

/// Compiles a graph that keeps as little for backward as the compiler says that
/// it can.
Expected<Program> compileLeast(StringRef module, CompileOptions options) {
  options.recompute = "1";
  Expected<Program> program = compile(module, options);
  if (program)
    return program;
  std::string why = toString(program.takeError());
  StringRef least = StringRef(why).rsplit("computing again reaches ").second;
  if (least.empty())
    return createStringError(why);
  options.recompute = least.take_while(isDigit).str();
  return compile(module, options);
}

/// Compiles a graph; with the rows of its loss in parts, if these are asked for
/// and it has a loss that can be taken so.
Expected<Program> compileRequest(const Request &request) {
  auto compileWith = [&](const CompileOptions &options) {
    return request.recompute ? compileLeast(request.module, options)
                             : compile(request.module, options);
  };
  Expected<Program> program = compileWith(request.options);
  if (program || request.options.lossChunks.empty())
    return program;
  std::string why = toString(program.takeError());
  if (!StringRef(why).contains("loss-chunks"))
    return createStringError(why);
  CompileOptions options = request.options;
  options.lossChunks.clear();
  return compileWith(options);
}

Expected<Answer> execute(Request request, Device device,
                         std::shared_ptr<Communicator> ranks = nullptr) {
  SessionOptions sessionOptions;
  sessionOptions.threads = 1;
  sessionOptions.device = device;
  sessionOptions.ranks = ranks;
  Expected<std::unique_ptr<Session>> session = Session::create(sessionOptions);
  if (!session)
    return session.takeError();
  request.options.target = (*session)->target().str();
  request.options.arch = (*session)->arch();
  request.options.ranks = ranks ? ranks->size() : 1;
  bool isText = request.options.goal == Goal::Decode;
  std::string function;
  if (isText) {
    if (Error error = loadTexts(**session, request))
      return std::move(error);
  } else {
    Expected<Program> program = compileRequest(request);
    if (!program)
      return program.takeError();
    // The entry point that takes the inputs; `derive` is run by the session.
    for (const Entry &entry : program->entries)
      if (entry.function != "derive")
        function = entry.function;
    if (Error error = (*session)->load(std::move(*program)))
      return std::move(error);
  }
  if (Error error = (*session)->initialize(/*seed=*/0))
    return std::move(error);
  WholeSession whole(**session, ranks.get());
  for (const auto &[name, bytes] : request.variables)
    if (Error error = whole.write(name, {bytes.data(), bytes.size()}))
      return std::move(error);
  if (Error error = whole.derive())
    return std::move(error);
  Answer answer;
  if (Error error =
          isText ? runTexts(**session, request, answer)
                 : runAll(**session, function, request, ranks.get(), answer))
    return std::move(error);
  if (Error error = whole.gather())
    return std::move(error);
  if (Error error = readVariables(whole, request.read, answer))
    return std::move(error);
  return answer;
}

/// Lets a rank take each micro-batch of a window.
Expected<Answer> executeByRanks(Request request, Device device,
                                bool shardOptimizer) {
  request.options.shardOptimizer = shardOptimizer;
  auto ranks = createThreadRanks(request.options.accumulate);
  std::vector<std::optional<Expected<Answer>>> answers(ranks.size());
  std::vector<llvm::thread> threads;
  for (auto [rank, answer] : zip_equal(ranks, answers)) {
    device.index = device.kind == Device::Kind::Cuda ? rank->rank() : 0;
    threads.emplace_back(
        [&, device, own = std::shared_ptr(std::move(rank))]() mutable {
          answer.emplace(execute(request, device, std::move(own)));
        });
  }
  for (llvm::thread &thread : threads)
    thread.join();
  Error errors = Error::success();
  for (auto &answer : answers)
    errors = joinErrors(std::move(errors), answer->takeError());
  if (errors)
    return std::move(errors);
  for (auto &answer : answers)
    if ((*answer)->bytes != (*answers.front())->bytes)
      return createStringError("ranks have different results or state");
  return std::move(*answers.front());
}

/// Does so with the state of the optimizer whole, and divided among them.
Expected<Answer> executeByRanks(const Request &request, Device device) {
  auto whole = executeByRanks(request, device, /*shardOptimizer=*/false);
  if (!whole)
    return whole.takeError();
  auto divided = executeByRanks(request, device, /*shardOptimizer=*/true);
  if (!divided)
    return divided.takeError();
  if (whole->bytes != divided->bytes)
    return createStringError("results or state differ if it is divided");
  return whole;
}

} // namespace

int mp::tool::fuzzdriverMain(int argc, char **argv) {
  std::ios::sync_with_stdio(false);
  Expected<DeviceChoice> device = chooseDevice(argc > 1 ? argv[1] : "cpu");
  if (!device) {
    errs() << toString(device.takeError()) << "\n";
    return 2;
  }
  // Each graph has a session of its own. One that stays keeps the context of a
  // CUDA device, which takes longer to make than a graph to run.
  SessionOptions kept;
  kept.threads = 1;
  kept.device = device->device;
  Expected<std::unique_ptr<Session>> session = Session::create(kept);
  if (!session) {
    errs() << toString(session.takeError()) << "\n";
    return 2;
  }
  bool byRanks = argc > 2 && StringRef(argv[2]) == "ranks";
  while (std::optional<Request> request = Request::next()) {
    Expected<Answer> answer =
        byRanks && request->options.accumulate > 1
            ? executeByRanks(*request, device->device)
            : execute(std::move(*request), device->device);
    if (!answer) {
      std::string text = toString(answer.takeError());
      outs() << json::Value(json::Object{{"error", validUtf8(text)}}) << "\n";
    } else {
      outs() << json::Value(
                    json::Object{{"runs", std::move(answer->runs)},
                                 {"variables", std::move(answer->variables)}})
             << "\n"
             << answer->bytes;
    }
    outs().flush();
  }
  return 0;
}
