//===- ProgramParse.cpp - reads the text form of a Program ----------------===//
//
// For any text, the result is an error that names a line or a Program whose
// indices, places and sizes are in range. The text and the machine code in it
// are checked against damage, not against malice: a Program is run as it is.
//
//===----------------------------------------------------------------------===//
#include "program/Limits.h"
#include "program/ProgramLine.h"
#include "support/Permutation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Base64.h"

using namespace mp;
using namespace mp::text;

namespace {

class Parser {
public:
  explicit Parser(llvm::StringRef text) : rest(text) {}
  llvm::Expected<Program> parse();

private:
  bool next();
  bool document();
  bool header();
  bool verify();
  bool item();
  bool payload(std::string &bytes, uint64_t count, llvm::StringRef hash,
               const llvm::Twine &what);

  bool sizedPayload(std::string &bytes, const llvm::Twine &what);

  bool variable();
  bool role(VariableRole &role);
  bool dimsInFiles(std::vector<int64_t> &dims, std::optional<size_t> rank);
  bool record(DataColumn &value);
  bool constant();
  bool kernel();
  bool source();
  bool code();
  bool include();
  bool precision();
  bool plan();
  bool setting();
  bool graph();
  bool accumulate() { return count(program.accumulate, "micro-batches"); }
  bool ranks() { return count(program.ranks, "ranks"); }
  bool count(int64_t &value, llvm::StringRef what) {
    return line.integer(value, ("a number of " + what).str(), 1, kMostCount);
  }
  bool entry();
  bool input();
  bool launch();
  bool call();
  bool copy();
  bool result();
  bool record();
  bool buffer();
  bool data();
  bool column();

  bool ref(BufferRef &ref, uint64_t bytes);
  bool refs(std::vector<BufferRef> &refs);
  bool work(int64_t &grid, int64_t &block);
  bool cost(uint64_t &bytes, uint64_t &flops);
  bool known(const llvm::StringMap<uint32_t> &names, llvm::StringRef what,
             uint32_t &index);
  bool declare(llvm::StringMap<uint32_t> &names, llvm::StringRef what,
               llvm::StringRef name, size_t index);
  bool fail(const llvm::Twine &message) { return line.fail(message); }

  llvm::StringRef rest;
  Line line;
  unsigned lineNumber = 0;
  Program program;
  llvm::StringMap<uint32_t> variables, kernels;
};

/// Goes to the next line with content; returns false at the end of the text.
bool Parser::next() {
  while (!rest.empty()) {
    auto [first, remaining] = rest.split('\n');
    rest = remaining;
    ++lineNumber;
    line = Line(first);
    if (!line.atEnd())
      return true;
  }
  line = Line();
  return false;
}

bool Parser::declare(llvm::StringMap<uint32_t> &names, llvm::StringRef what,
                     llvm::StringRef name, size_t index) {
  if (!names.try_emplace(name, static_cast<uint32_t>(index)).second)
    return fail(what + " '" + name + "' is declared twice");
  return false;
}

bool Parser::known(const llvm::StringMap<uint32_t> &names, llvm::StringRef what,
                   uint32_t &index) {
  std::string name;
  if (line.name(name, ("a " + what).str()))
    return true;
  auto found = names.find(name);
  if (found == names.end())
    return fail("unknown " + what + " '" + name + "'");
  index = found->second;
  return false;
}

/// Reads '|' lines that hold `count` bytes of this checksum.
bool Parser::payload(std::string &bytes, uint64_t count, llvm::StringRef hash,
                     const llvm::Twine &what) {
  // The text bounds the reserved memory, not a number in it.
  bytes.reserve(std::min<uint64_t>(count, rest.size()));
  std::vector<char> decoded;
  while (bytes.size() < count && next()) {
    if (line.expectCharacter('|'))
      return true;
    if (llvm::Error error = llvm::decodeBase64(line.takeRest(), decoded)) {
      llvm::consumeError(std::move(error));
      return fail("expected base64 digits");
    }
    bytes.append(decoded.begin(), decoded.end());
  }
  if (bytes.size() != count)
    return fail(what + " has " + llvm::Twine(bytes.size()) +
                " bytes, expected " + llvm::Twine(count));
  if (checksum(bytes) != hash)
    return fail(what + " is damaged: its checksum is " + checksum(bytes) +
                ", expected " + hash);
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

bool Parser::variable() {
  Variable &value = program.variables.emplace_back();
  llvm::StringRef word;
  if (line.name(value.name, "a name") ||
      declare(variables, "variable", value.name,
              program.variables.size() - 1) ||
      line.word(word, "a kind of variable"))
    return true;
  std::optional<VariableKind> kind = parseVariableKind(word);
  if (!kind)
    return fail("unknown kind of variable '" + word + "'");
  value.kind = *kind;
  if (line.tensor(value.type) || line.word(word, "an initializer"))
    return true;
  const auto *init = llvm::find_if(
      kInitializerNames, [&](const auto &pair) { return pair.second == word; });
  if (init == std::end(kInitializerNames))
    return fail("unknown initializer '" + word + "'");
  value.init.kind = init->first;
  for (double *number : {&value.init.a, &value.init.b})
    if (!line.atEnd() && !line.peek("as") && !line.peek("at") &&
        !line.peek(kDimsInFiles) && line.number(*number, "a number"))
      return true;
  return role(value.role) ||
         dimsInFiles(value.dimsInFiles, value.type.shape.size()) ||
         line.location(value.location);
}

/// " dims_in_files [0,3,1,2]", or nothing.
bool Parser::dimsInFiles(std::vector<int64_t> &dims,
                         std::optional<size_t> rank) {
  if (!line.peek(kDimsInFiles))
    return false;
  if (line.list(kDimsInFiles, dims))
    return true;
  std::string why = whyNotPermutation(dims, rank.value_or(dims.size()));
  return !why.empty() &&
         fail("dimensions in files: " + dimsText(dims) + " " + why);
}

/// " as slot of NAME named NAME", or nothing.
bool Parser::role(VariableRole &role) {
  llvm::StringRef word;
  if (!line.consume("as"))
    return false;
  if (line.word(word, "a role"))
    return true;
  std::optional<VariableRole::Kind> kind = parseRoleKind(word);
  if (!kind)
    return fail("unknown role '" + word + "'");
  role.kind = *kind;
  if (line.consume("of") && line.name(role.parameter, "a parameter"))
    return true;
  return line.consume("named") && line.name(role.slot, "a slot");
}

bool Parser::constant() {
  Constant &value = program.constants.emplace_back();
  llvm::StringRef hash;
  return line.tensor(value.type) || line.word(hash, "a checksum") ||
         line.end() ||
         payload(value.bytes, value.type.bytes(), hash, "constant");
}

bool Parser::kernel() {
  Kernel &value = program.kernels.emplace_back();
  return line.name(value.symbol, "a symbol") ||
         declare(kernels, "kernel", value.symbol, program.kernels.size() - 1) ||
         line.name(value.features, "CPU features") ||
         line.name(value.summary, "a summary");
}

bool Parser::source() {
  if (program.kernels.empty())
    return fail("'source' outside a kernel");
  return line.location(program.kernels.back().sources.emplace_back());
}

bool Parser::code() {
  if (program.kernels.empty())
    return fail("'code' outside a kernel");
  Kernel &value = program.kernels.back();
  if (!value.code.empty())
    return fail("kernel '" + value.symbol + "' has code already");
  return sizedPayload(value.code, "code of '" + value.symbol + "'");
}

bool Parser::include() {
  Header &value = program.headers.emplace_back();
  return line.name(value.name, "a name") ||
         sizedPayload(value.text, "header '" + value.name + "'");
}

/// Reads a size and a checksum, then the lines below.
bool Parser::sizedPayload(std::string &bytes, const llvm::Twine &what) {
  uint64_t count = 0;
  llvm::StringRef hash;
  return line.unsignedInteger(count, "a size", kMostBytes) ||
         line.word(hash, "a checksum") || line.end() ||
         payload(bytes, count, hash, what);
}

bool Parser::precision() { return line.name(program.precision, "a precision"); }

bool Parser::plan() { return line.name(program.plan, "a hash"); }

bool Parser::setting() {
  auto &[key, value] = program.settings.emplace_back();
  return line.name(key, "a setting") || line.name(value, "its value");
}

bool Parser::graph() {
  SourceOp &op = program.graph.emplace_back();
  if (line.name(op.name, "an op") || line.name(op.type, "its type"))
    return true;
  if (line.consume("from"))
    while (line.atNumber())
      if (line.integer(op.operands.emplace_back(), "a value", 0))
        return true;
  if (line.consume("set"))
    while (!line.atEnd() && !line.peek("at")) {
      auto &[key, value] = op.attributes.emplace_back();
      if (line.name(key, "an attribute") || line.expectCharacter('=') ||
          line.name(value, "its value"))
        return true;
    }
  return line.location(op.location);
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
  if (refs(value.args))
    return true;
  program.entries.back().steps.emplace_back(std::move(value));
  return false;
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
  program.entries.back().steps.emplace_back(std::move(value));
  return false;
}

bool Parser::copy() {
  Copy value;
  if (line.unsignedInteger(value.bytes, "a size", kMostBytes) ||
      line.expect("to") || ref(value.to, value.bytes) || line.expect("from") ||
      ref(value.from, value.bytes) ||
      (line.consume("if") && ref(value.flag.emplace(), 1)))
    return true;
  program.entries.back().steps.emplace_back(value);
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

bool Parser::data() {
  DataSource &value = program.data.emplace_back();
  return line.name(value.name, "a name") || line.location(value.location);
}

/// " record BYTES OFFSET", " window TOKENS STRIDE OFFSET", " streams N" or
/// nothing; and whether all of the column fits.
bool Parser::record(DataColumn &value) {
  if (line.consume(kRecord) &&
      (line.integer(value.recordBytes, "bytes", 1) ||
       line.integer(value.recordOffset, "an offset", 0)))
    return true;
  if (line.consume(kWindow) &&
      (line.integer(value.window.tokens, "tokens", 1) ||
       line.integer(value.window.stride, "a stride", 1) ||
       line.integer(value.window.offset, "an offset", 0)))
    return true;
  if (line.consume(kStreams) &&
      line.integer(value.window.streams, "streams", 1))
    return true;
  std::string mistake = columnMistake(value);
  return !mistake.empty() && fail("column '" + value.argument + "' " + mistake);
}

bool Parser::column() {
  if (program.data.empty())
    return fail("'column' outside data");
  DataColumn &value = program.data.back().columns.emplace_back();
  return line.name(value.argument, "an argument") ||
         line.name(value.pattern, "a pattern") ||
         line.name(value.format, "a format") ||
         line.elementType(value.element) || line.expect("key") ||
         line.name(value.key, "a key") || line.list(kShape, value.shape) ||
         record(value) || dimsInFiles(value.dimsInFiles, std::nullopt) ||
         (!value.dimsInFiles.empty() && value.dimsInFiles.front() != 0 &&
          fail("dimensions in files do not keep the samples first")) ||
         line.location(value.location);
}

/// Compares the checksum in the first line, if there is one, with the rest.
bool Parser::verify() {
  llvm::StringRef expected;
  if (line.atEnd())
    return false;
  if (line.word(expected, "a checksum") || line.end())
    return true;
  std::string found = checksum(rest);
  return found != expected &&
         fail("the text is damaged: the checksum of what follows is " + found +
              ", expected " + expected +
              " (remove it here if you have edited the text)");
}

bool Parser::header() {
  int64_t found = 0;
  if (!next() || !line.consume("mp.program"))
    return fail("not a program: expected 'mp.program " + llvm::Twine(kVersion) +
                "'");
  if (line.integer(found, "a version"))
    return true;
  if (found != kVersion)
    return fail("version " + llvm::Twine(found) +
                " of the text form, expected " + llvm::Twine(kVersion));
  if (verify())
    return true;
  next();
  if (line.expect("module") || line.name(program.module, "a name") ||
      line.end())
    return true;
  next();
  return line.expect("target") || line.name(program.target, "a target") ||
         line.name(program.arch, "an architecture") || line.end();
}

bool Parser::item() {
  using Reader = bool (Parser::*)();
  static constexpr std::pair<llvm::StringLiteral, Reader> top[] = {
      {"variable", &Parser::variable},   {"constant", &Parser::constant},
      {"kernel", &Parser::kernel},       {"source", &Parser::source},
      {"code", &Parser::code},           {"entry", &Parser::entry},
      {"data", &Parser::data},           {"column", &Parser::column},
      {"precision", &Parser::precision}, {"include", &Parser::include},
      {"plan", &Parser::plan},           {"accumulate", &Parser::accumulate},
      {"setting", &Parser::setting},     {"graph", &Parser::graph},
      {"ranks", &Parser::ranks},
  };
  static constexpr std::pair<llvm::StringLiteral, Reader> inEntry[] = {
      {"input", &Parser::input},   {"launch", &Parser::launch},
      {"call", &Parser::call},     {"copy", &Parser::copy},
      {"result", &Parser::result}, {"buffer", &Parser::buffer},
      {"record", &Parser::record},
  };
  for (const auto &[word, reader] : top)
    if (line.consume(word))
      return (this->*reader)() || line.end();
  for (const auto &[word, reader] : inEntry)
    if (line.consume(word)) {
      if (program.entries.empty())
        return fail("'" + word + "' outside an entry");
      return (this->*reader)() || line.end();
    }
  return line.unknown();
}

bool Parser::document() {
  if (header())
    return true;
  while (next()) {
    if (!line.consume("end")) {
      if (item())
        return true;
      continue;
    }
    if (line.end())
      return true;
    return next() && fail("text after 'end'");
  }
  return fail("the text breaks off: expected 'end'");
}

llvm::Expected<Program> Parser::parse() {
  if (document())
    return llvm::createStringError("line " + llvm::Twine(lineNumber) + ": " +
                                   line.message());
  return std::move(program);
}

} // namespace

llvm::Expected<Program> mp::parseProgram(llvm::StringRef text) {
  return Parser(text).parse();
}
