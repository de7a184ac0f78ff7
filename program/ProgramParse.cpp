//===- ProgramParse.cpp - reads the text form of a Program ----------------===//
//
// For any text, the result is an error that names a line or a Program whose
// indices, places and sizes are in range. The text and the machine code in it
// are checked against damage, not against malice: a Program is run as it is.
//
//===----------------------------------------------------------------------===//
#include "program/ProgramParser.h"
#include "support/Permutation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"

using namespace mp;
using namespace mp::text;

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
  if (line.tensor(value.type) ||
      (line.consume(kPartOf) && line.tensor(value.whole.emplace())) ||
      line.word(word, "an initializer"))
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
         dimsInFiles(value.dimsInFiles, value.wholeType().shape.size()) ||
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
      {"record", &Parser::record}, {"repeat", &Parser::repeat},
  };
  bool isStep = line.peek("launch") || line.peek("call") || line.peek("copy") ||
                line.peek("repeat");
  if (!isStep && lacksSteps())
    return true;
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

/// Fails if there is a Repeat whose steps have not all been read.
bool Parser::lacksSteps() {
  return !repeats.empty() &&
         fail("a repeat lacks " + llvm::Twine(repeats.back().left) +
              " of its steps");
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
    if (lacksSteps() || line.end())
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

llvm::Expected<Program> mp::parseProgram(llvm::StringRef text) {
  return Parser(text).parse();
}
