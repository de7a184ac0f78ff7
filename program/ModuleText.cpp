//===- ModuleText.cpp - what of a module's text MLIR may parse ------------===//
#include "program/ModuleText.h"
#include "program/Limits.h"
#include "program/MpVersion.h"
#include "support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>

using namespace llvm;
using namespace mp;

static bool isWordChar(char c) {
  return isAlnum(c) || c == '_' || c == '.' || c == '$';
}

/// The bracket that closes one, or 0.
static char closerOf(char c) {
  switch (c) {
  case '(':
    return ')';
  case '[':
    return ']';
  case '{':
    return '}';
  case '<':
    return '>';
  default:
    return 0;
  }
}

namespace {
/// An attribute or a type that an alias stands for.
struct Alias {
  size_t depth = 0; ///< how deep it nests
  size_t bytes = 0; ///< its length with the aliases in it written out
};

class Scan {
public:
  Scan(StringRef text, StringRef splitMarker)
      : text(text), splitMarker(splitMarker) {}

  std::optional<TextFault> run() {
    if (isBytecode(text))
      fail(0, "is MLIR bytecode, expected text; mp-opt --trust-bytecode makes "
              "text of bytecode from a source that you trust");
    else if (text.size() > kMostModuleBytes)
      fail(0, formatv("is longer than {0} MiB, which is no module",
                      kMostModuleBytes >> 20));
    while (at < text.size() && fault.empty())
      step();
    if (fault.empty())
      return std::nullopt;
    StringRef before = text.take_front(faultAt);
    size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return TextFault{before.count('\n') + 1, column, std::move(fault)};
  }

private:
  /// Reads one token.
  void step() {
    char c = text[at];
    if (isAlnum(c) || c == '_')
      return word();
    if (isSpace(c) || c == '\0') {
      ++at;
      return;
    }
    StringRef rest = text.substr(at);
    if (rest.starts_with("//"))
      return comment();
    if (c == '"')
      return string();
    if ((c == '#' || c == '!') && rest.size() > 1 &&
        (isAlnum(rest[1]) || rest[1] == '_'))
      return alias();
    if (rest.starts_with("->"))
      return sign(2);
    if (rest.starts_with("<=")) // a comparison in a set
      return separator(2);
    if (closerOf(c))
      return open(c);
    if (c == ')' || c == ']' || c == '}' || c == '>')
      return close(c);
    if (c == '+' || c == '*' || c == '-') {
      operation();
      return sign(1);
    }
    if (c == '%' || c == '@' || c == '^') {
      endDefinition();
      return sign(1);
    }
    separator(1);
  }

  /// Begins another module after the marker of a split file.
  void comment() {
    size_t end = std::min(text.find('\n', at), text.size());
    if (!splitMarker.empty() && text.substr(at).starts_with(splitMarker)) {
      closers.clear();
      aliases.clear();
      defined = nullptr;
      operations = bytes = 0;
    }
    at = end;
  }

  void string() {
    endDefinition();
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      at += text[at] == '\\';
    ++at;
    operations = 0;
    endsValue = true;
  }

  void word() {
    endDefinition();
    size_t begin = at;
    while (at < text.size() && isWordChar(text[at]))
      ++at;
    endsValue = true;
    StringRef name = text.slice(begin, at);
    if (name == "mod" || name == "floordiv" || name == "ceildiv")
      operation();
    else if (name == kVersionAttr)
      version(begin);
  }

  /// Compares the version after mp.version.
  void version(size_t begin) {
    StringRef rest = text.substr(at).ltrim();
    if (!rest.consume_front("="))
      return;
    rest = rest.ltrim();
    if (!rest.consume_front("\""))
      return;
    auto needed = MpVersion::parse(
        rest.take_until([](char c) { return c == '"' || c == '\n'; }));
    if (needed && *needed > MpVersion::ours())
      fail(begin, needed->isNewer());
  }

  /// Reads #name or !name: a definition, a use of one, or what a dialect has.
  void alias() {
    endDefinition();
    size_t begin = at++;
    while (at < text.size() && (isWordChar(text[at]) || text[at] == '-'))
      ++at;
    // In !a->!b and #map->, the sign is an arrow's.
    if (text[at - 1] == '-' && text.substr(at).starts_with(">"))
      --at;
    endsValue = true;
    StringRef name = text.slice(begin, at), rest = text.substr(at).ltrim();
    if (closers.empty() && rest.starts_with("=") && !rest.starts_with("==")) {
      at = text.size() - rest.size() + 1;
      defined = &aliases[name];
      *defined = {};
      definedAt = at;
      endsValue = false;
      return;
    }
    auto known = aliases.find(name);
    if (known != aliases.end() && &known->second != defined)
      use(begin, known->second);
  }

  void use(size_t begin, const Alias &alias) {
    size_t depth = closers.size() + alias.depth;
    if (depth > kMostNesting)
      return tooDeep(begin, ", with the aliases written out");
    bytes += alias.bytes;
    if (bytes > kMostModuleBytes)
      return fail(begin, formatv("is longer than {0} MiB with the aliases "
                                 "written out, which is no module",
                                 kMostModuleBytes >> 20));
    if (!defined)
      return;
    defined->depth = std::max(defined->depth, depth);
    defined->bytes += alias.bytes;
  }

  /// Ends the value of an alias before a token that begins something else: no
  /// value has two words in a row outside of brackets.
  void endDefinition() {
    if (!defined || !closers.empty() || !endsValue)
      return;
    // Locations may be shared more often, as none prints them in full.
    StringRef value = text.slice(definedAt, at).trim();
    defined->bytes =
        value.starts_with("loc") ? 0 : defined->bytes + value.size();
    defined = nullptr;
  }

  void open(char c) {
    closers.push_back(closerOf(c));
    if (closers.size() > kMostNesting)
      return tooDeep(at, "");
    if (defined)
      defined->depth = std::max(defined->depth, closers.size());
    sign(1);
  }

  void close(char c) {
    // An op's own format may have a '<' that no '>' closes.
    size_t size = closers.size();
    while (size > 0 && closers[size - 1] == '>' && c != '>')
      --size;
    if (size > 0 && closers[size - 1] == c)
      closers.resize(size - 1);
    ++at;
    endsValue = true;
  }

  /// Counts an operator: chains of them nest where no bracket does.
  void operation() {
    if (++operations > kMostNesting)
      fail(at,
           formatv("an expression has more than {0} operators", kMostNesting));
  }

  void sign(size_t length) {
    at += length;
    endsValue = false;
  }
  void separator(size_t length) {
    sign(length);
    operations = 0;
  }

  void tooDeep(size_t place, StringRef how) {
    fail(place,
         formatv("nests deeper than {0} brackets{1}", kMostNesting, how));
  }
  void fail(size_t place, std::string message) {
    fault = std::move(message);
    faultAt = place;
  }

  StringRef text, splitMarker;
  size_t at = 0;
  std::string closers; ///< what closes the open brackets
  bool endsValue = false;
  unsigned operations = 0; ///< since the last separator
  size_t bytes = 0;        ///< of aliases that are used, written out
  StringMap<Alias> aliases;
  Alias *defined = nullptr; ///< the alias whose value is being read
  size_t definedAt = 0;
  std::string fault;
  size_t faultAt = 0;
};
} // namespace

bool mp::isBytecode(StringRef bytes) { return bytes.starts_with("ML\xEFR"); }

std::optional<TextFault> mp::findTextFault(StringRef text,
                                           StringRef splitMarker) {
  return Scan(text, splitMarker).run();
}

Error mp::checkModuleText(StringRef text, StringRef file,
                          StringRef splitMarker) {
  if (auto fault = findTextFault(text, splitMarker))
    return makeError("{0}:{1}:{2}: error: {3}", file, fault->line,
                     fault->column, fault->message);
  return Error::success();
}

bool mp::showsControls(StringRef text) {
  if (hasControls(text))
    return true;
  for (size_t at = 0; (at = text.find('\\', at)) != StringRef::npos; ++at) {
    unsigned code;
    bool isCode = !text.substr(at + 1, 2).getAsInteger(16, code);
    if (isCode && (code < 0x20 || code == 0x7F || code >= 0x80))
      return true;
  }
  return false;
}
