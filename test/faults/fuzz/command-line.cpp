//===- command-line.cpp - fuzz target: options of the tools ---------------===//
#include "Target.h"
#include "tools/common/Options.h"

using namespace mp::tool;
using namespace mp::fuzz;

namespace {

/// A place for the value of each kind of option.
struct Values {
  bool flag = false;
  std::string text, choice;
  std::vector<std::string> list;
  uint64_t number = 0;
  double positive = 0;
};

Command commandOf(Values &values) {
  Command command{"mp-fuzz", "FILE", "takes any arguments"};
  command.options = {
      flag("flag", values.flag, true, "a flag"),
      text("text", "TEXT", values.text, "a text"),
      list("list", "TEXT", values.list, "several texts"),
      choice("choice", values.choice, {"off", "step", "all"}, "a choice"),
      number(
          "number", [&](uint64_t n) { values.number = n; }, 1, 1'000'000'000,
          "a number"),
      positive(
          "positive", [&](double x) { values.positive = x; }, "a number"),
  };
  command.positional = 1;
  command.optional = 2;
  return command;
}

} // namespace

/// Each line is an argument.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes = textOf(data, size).str();
  if (llvm::StringRef(bytes).contains("-h") ||
      llvm::StringRef(bytes).contains("version"))
    return 0; // prints
  std::vector<const char *> arguments;
  for (char &c : bytes)
    if (c == '\n')
      c = '\0';
  for (size_t at = 0; at < bytes.size();
       at += arguments.back() ? std::string(arguments.back()).size() + 1 : 1)
    arguments.push_back(bytes.c_str() + at);
  Values values;
  auto others = commandOf(values).parse(arguments);
  if (!succeeds(others))
    return 0;
  require(values.number <= 1'000'000'000, "a number out of range");
  require(!(values.positive < 0), "a number below zero");
  require(*others && (*others)->size() >= 1 && (*others)->size() <= 3,
          "another count of arguments");
  return 0;
}
