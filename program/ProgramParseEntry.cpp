//===- ProgramParseEntry.cpp - reads the entry points of a Program --------===//
#include "program/ProgramParser.h"
#include "llvm/ADT/STLExtras.h"

using namespace mp;
using namespace mp::text;

/// Reads what each round of the Repeats around a step adds to a place in a
/// space of `size` bytes.
bool Parser::strides(BufferRef &ref, uint64_t bytes, uint64_t size) {
  constexpr auto most = static_cast<int64_t>(kMostBytes);
  // In 128 bits, no product of what may stand here overflows.
  __int128 first = ref.offset, last = ref.offset;
  while (line.consume(kStride)) {
    size_t number = ref.strides.size();
    if (number == repeats.size())
      return fail("a stride outside a repeat");
    int64_t &stride = ref.strides.emplace_back();
    if (line.integer(stride, "a stride", -most, most))
      return true;
    __int128 whole = __int128(stride) * (repeats[number].rounds - 1);
    (whole < 0 ? first : last) += whole;
  }
  if (!ref.strides.empty() && ref.strides.back() == 0)
    return fail("a last stride of 0");
  if (first < 0 || last + bytes > size)
    return fail("a round leaves a space of " + llvm::Twine(size) + " bytes");
  return false;
}

/// Reads a reference with at least `bytes` bytes from there on.
bool Parser::ref(BufferRef &ref, uint64_t bytes) {
  uint64_t size = 0;
  llvm::StringRef word;
  const Entry &entry = program.entries.back();
  if (line.consumeCharacter('@')) {
    ref.space = BufferRef::Space::Variable;
    if (known(variables, "variable", ref.index))
      return true;
    size = program.variables[ref.index].type.bytes();
  } else {
    if (line.word(word, "a buffer"))
      return true;
    llvm::StringRef index = word;
    if (word == "arena") {
      ref.space = BufferRef::Space::Arena;
      size = entry.arenaBytes;
    } else if (index.consume_front("const")) {
      ref.space = BufferRef::Space::Constant;
      if (index.getAsInteger(10, ref.index) ||
          ref.index >= program.constants.size())
        return fail("there is no constant '" + word + "'");
      size = program.constants[ref.index].type.bytes();
    } else if (index.consume_front("input")) {
      ref.space = BufferRef::Space::Staging;
      if (index.getAsInteger(10, ref.index) || ref.index >= entry.inputs.size())
        return fail("there is no input '" + word + "'");
      size = entry.inputs[ref.index].type.bytes();
    } else {
      return fail("unknown buffer '" + word + "'");
    }
  }
  if (line.expectCharacter('+') ||
      line.unsignedInteger(ref.offset, "an offset", size))
    return true;
  if (line.peek(kStride))
    return strides(ref, bytes, size);
  if (size - ref.offset < bytes)
    return fail("needs " + llvm::Twine(bytes) + " bytes at offset " +
                llvm::Twine(ref.offset) + " of a space of " +
                llvm::Twine(size));
  return false;
}

bool Parser::refs(std::vector<BufferRef> &refs) {
  if (line.expect("args"))
    return true;
  while (!line.atEnd())
    if (ref(refs.emplace_back(), 0))
      return true;
  return false;
}

bool Parser::entry() {
  Entry &value = program.entries.emplace_back();
  return line.name(value.function, "a function") || line.expect("batch") ||
         line.integer(value.batch, "a batch size", 0, kMostCount) ||
         line.expect("arena") ||
         line.unsignedInteger(value.arenaBytes, "a size", kMostBytes) ||
         (line.consume("recipe") && line.name(value.recipe, "a recipe")) ||
         line.location(value.location);
}

bool Parser::input() {
  std::vector<Input> &inputs = program.entries.back().inputs;
  Input value;
  if (line.name(value.name, "a name") || line.tensor(value.type))
    return true;
  auto hasName = [&](const Input &other) { return other.name == value.name; };
  if (!value.name.empty() && llvm::any_of(inputs, hasName))
    return fail("input '" + value.name + "' is declared twice");
  if (line.consume("range")) {
    int64_t least = 0, most = 0;
    if (line.integer(least, "a bound") ||
        line.integer(most, "a bound not below the first", least))
      return true;
    value.range = {least, most};
  }
  int64_t exempt = 0;
  if (line.consume("exempt")) {
    if (line.integer(exempt, "a value"))
      return true;
    value.exempt = exempt;
  }
  if (line.location(value.location))
    return true;
  inputs.push_back(std::move(value));
  return false;
}

bool Parser::work(int64_t &grid, int64_t &block) {
  return line.expect("grid") || line.integer(grid, "a count", 0) ||
         line.expect("block") || line.integer(block, "a count", 1);
}

bool Parser::cost(uint64_t &bytes, uint64_t &flops) {
  return (line.consume("bytes") &&
          line.unsignedInteger(bytes, "a size", UINT64_MAX)) ||
         (line.consume("flops") &&
          line.unsignedInteger(flops, "a count", UINT64_MAX));
}

bool Parser::launch() {
  Launch value;
  if (known(kernels, "kernel", value.kernel) || work(value.grid, value.block) ||
      line.expect("shared") ||
      line.unsignedInteger(value.shared, "a size", kMostBytes) ||
      cost(value.bytes, value.flops))
    return true;
  value.table = line.consume("table");
  value.cooperative = value.table && line.consume("cooperative");
  if (refs(value.args))
    return true;
  return endStep(std::move(value));
}

bool Parser::call() {
  Call value;
  if (line.name(value.routine, "a routine") || work(value.grid, value.block) ||
      cost(value.bytes, value.flops) || line.expect("set"))
    return true;
  while (!line.peek("args")) {
    auto &[key, attribute] = value.attributes.emplace_back();
    if (line.name(key, "an attribute or 'args'") || line.expectCharacter('=') ||
        line.attribute(attribute))
      return true;
  }
  if (refs(value.args))
    return true;
  return endStep(std::move(value));
}

bool Parser::copy() {
  Copy value;
  if (line.unsignedInteger(value.bytes, "a size", kMostBytes) ||
      line.expect("to") || ref(value.to, value.bytes) || line.expect("from") ||
      ref(value.from, value.bytes) ||
      (line.consume("if") && ref(value.flag.emplace(), 1)))
    return true;
  return endStep(value);
}

bool Parser::repeat() {
  Repeat value;
  if (line.integer(value.rounds, "a number of rounds", 1, kMostCount) ||
      line.expect("steps") ||
      line.unsignedInteger(value.steps, "a number of steps", UINT32_MAX))
    return true;
  if (value.steps == 0)
    return fail("a repeat of no steps");
  if (repeats.size() == kMostLoops)
    return fail("a repeat within " + llvm::Twine(kMostLoops) + " others");
  int64_t rounds = value.rounds;
  for (const Open &open : repeats)
    if (llvm::MulOverflow(rounds, open.rounds, rounds) || rounds > kMostCount)
      return fail("more than " + llvm::Twine(kMostCount) + " rounds");
  if (!repeats.empty() && value.steps >= repeats.back().left)
    return fail("a repeat of " + llvm::Twine(value.steps) +
                " steps within one that has " +
                llvm::Twine(repeats.back().left - 1) + " left");
  endStep(value);
  repeats.push_back({value.rounds, value.steps});
  return false;
}

bool Parser::endStep(Step step) {
  program.entries.back().steps.push_back(std::move(step));
  for (Open &open : repeats)
    --open.left;
  while (!repeats.empty() && repeats.back().left == 0)
    repeats.pop_back();
  return false;
}

bool Parser::result() {
  Result &value = program.entries.back().results.emplace_back();
  return line.name(value.name, "a name") || line.tensor(value.type) ||
         ref(value.ref, value.type.bytes()) ||
         (line.consume("of") &&
          (line.name(value.origin, "an op") || line.location(value.location)));
}

bool Parser::record() {
  Entry &entry = program.entries.back();
  Record value;
  if (line.name(value.op, "an op") || line.name(value.phase, "a phase") ||
      line.tensor(value.type))
    return true;
  if (line.consume("from"))
    while (line.atNumber())
      if (entry.records.empty() ||
          line.unsignedInteger(value.operands.emplace_back(),
                               "an earlier record", entry.records.size() - 1))
        return fail("expected an earlier record");
  value.meant = line.consume("meant");
  value.watched = line.consume("watched");
  value.guarded = line.consume("guarded");
  for (size_t i = 0; i < kRecordFacts; ++i) {
    if (!line.consume(recordFactName(RecordFact(i))))
      continue;
    if (entry.results.empty() ||
        line.unsignedInteger(value.results[i], "a result",
                             entry.results.size() - 1))
      return fail("expected a result");
    if (!entry.results[value.results[i]].type.shape.empty())
      return fail("what a record tells is a scalar");
  }
  if (line.location(value.location))
    return true;
  entry.records.push_back(std::move(value));
  return false;
}

bool Parser::buffer() {
  Entry &entry = program.entries.back();
  Buffer &value = entry.buffers.emplace_back();
  if (entry.steps.empty())
    return fail("a buffer before the first step");
  if (line.unsignedInteger(value.offset, "an offset", entry.arenaBytes) ||
      line.unsignedInteger(value.bytes, "a size",
                           entry.arenaBytes - value.offset) ||
      line.expect("steps") ||
      line.unsignedInteger(value.lastStep, "a step", entry.steps.size() - 1))
    return true;
  value.firstStep = value.lastStep;
  if (line.unsignedInteger(value.lastStep, "a step", entry.steps.size() - 1))
    return true;
  if (value.lastStep < value.firstStep)
    return fail("a buffer ends before it begins");
  return line.name(value.summary, "a summary") || line.location(value.location);
}
