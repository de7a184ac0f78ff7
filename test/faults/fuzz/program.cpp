//===- program.cpp - fuzz target: the text of a Program -------------------===//
#include "program/Program.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;

/// The text without the checksum in its first line, which may be omitted and
/// which no mutant has.
static std::string withoutChecksum(llvm::StringRef text) {
  auto [first, rest] = text.split('\n');
  auto [magic, others] = first.split(' ');
  llvm::StringRef version = others.split(' ').first;
  return (magic + " " + version + "\n" + rest).str();
}

static std::string print(const Program &program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(program, os);
  return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto program = parseProgram(withoutChecksum(textOf(data, size)));
  if (!succeeds(program))
    return 0;
  std::string text = print(*program);
  auto again = parseProgram(text);
  require(succeeds(again), "what was printed cannot be read");
  require(print(*again) == text, "what was read prints otherwise");
  return 0;
}
