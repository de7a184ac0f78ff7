//===- Serve.cpp - kernels measured on request ----------------------------===//
#include "Serve.h"
#include "Runner.h"
#include "runtime/cpu/Peak.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <ctime>
#include <iostream>

using namespace llvm;
using namespace mp;
using namespace mp::micro;

namespace {

/// The time that all threads of this process have computed.
double cpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

/// A square product, with B as [k, n] ("nn") or [n, k] ("nt").
std::string productText(int64_t size, StringRef type, StringRef form) {
  std::string matrix = formatv("tensor<{0}x{0}x{1}>", size, type);
  return formatv("func.func @f(%a: {0}, %b: {0}) -> {0} {{\n"
                 "  %0 = mp.matmul %a, %b{1} : {0}, {0}\n"
                 "  return %0 : {0}\n}\n",
                 matrix, form == "nt" ? " transpose_b" : "");
}

/// Returns the function of a name as the benchmarks have it, or nothing:
/// "conv2d/bf16/56/forward", "matmul/f32/1024/nt",
/// "attention/f32/64x1024/backward".
std::string textOf(StringRef name) {
  SmallVector<StringRef, 4> words;
  name.split(words, '/');
  if (words.size() != 4 || !is_contained({"f32", "bf16", "f16"}, words[1]))
    return {};
  int64_t size = 0;
  if (words[0] == "matmul" && !words[2].getAsInteger(10, size) &&
      is_contained({"nn", "nt"}, words[3]))
    return productText(size, words[1], words[3]);
  if (words[0] == "attention")
    for (const Attention &attention : attentions())
      if (words[2] == attention.name &&
          is_contained({"forward", "backward"}, words[3]))
        return micro::textOf(attention, words[3] == "backward", words[1]);
  if (words[0] != "conv2d")
    return {};
  for (const Convolution &convolution : convolutions())
    for (auto kind : {ConvolutionKind::Forward, ConvolutionKind::Input,
                      ConvolutionKind::Weight})
      if (words[2] == convolution.name && words[3] == nameOf(kind))
        return micro::textOf(convolution, kind, words[1]);
  return {};
}

json::Object describe(const Convolution &c) {
  return json::Object{{"name", c.name},     {"images", c.images},
                      {"side", c.side},     {"in", c.in},
                      {"out", c.out},       {"window", c.window},
                      {"stride", c.stride}, {"padding", c.window / 2}};
}

json::Object describe(const Attention &a) {
  return json::Object{{"name", a.name},     {"batch", a.batch},
                      {"tokens", a.tokens}, {"heads", a.heads},
                      {"depth", a.depth},   {"causal", a.isCausal}};
}

json::Object peaks(ThreadPool &pool) {
  json::Object answer;
  for (auto [name, type] : {std::pair("f32", ElementType::F32),
                            std::pair("bf16", ElementType::BF16)}) {
    json::Object &found = *(answer[name] = json::Object()).getAsObject();
    for (const Peak &peak : measureEachPeak(pool, type))
      found[peak.instructions] = peak.rate;
  }
  return answer;
}

class Server {
public:
  json::Object answer(StringRef request) {
    if (request == "list") {
      auto all = [](auto cases) {
        json::Array described;
        for (const auto &one : cases)
          described.push_back(describe(one));
        return described;
      };
      return json::Object{{"convolutions", all(convolutions())},
                          {"attentions", all(attentions())}};
    }
    if (request == "peaks")
      return peaks(pool);
    auto [name, runs] = request.split(' ');
    unsigned count = 0;
    if (!to_integer(runs, count) || !prepare(name))
      return json::Object{{"error", "unknown request"}};
    json::Array seconds;
    for (unsigned run = 0; run < count; ++run) {
      double began = cpuSeconds();
      runner->run();
      seconds.push_back(cpuSeconds() - began);
    }
    return json::Object{{"seconds", std::move(seconds)}};
  }

private:
  /// Keeps the kernel that was asked for last ready to run.
  bool prepare(StringRef name) {
    if (ready == name && runner)
      return true;
    std::string text = textOf(name);
    if (text.empty())
      return false;
    runner.reset();
    runner = std::make_unique<Runner>(text, /*onednn=*/false);
    runner->makeInputs(pool);
    runner->run();
    ready = name.str();
    return true;
  }

  ThreadPool pool{threads};
  std::unique_ptr<Runner> runner;
  std::string ready;
};

} // namespace

void micro::serve() {
  Server server;
  for (std::string line; std::getline(std::cin, line);)
    outs() << json::Value(server.answer(line)) << "\n", outs().flush();
}
