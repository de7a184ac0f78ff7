//===- Pattern.cpp - matches of a text or of a regular expression ---------===//
#include "runtime/text/Pattern.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "llvm/Support/ErrorHandling.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

using namespace llvm;

namespace mp::tokenizers {

namespace {

// What RegexSyntax.cpp writes for \s and \w is a property since then.
static_assert(PCRE2_MAJOR > 10 || PCRE2_MINOR >= 40, "PCRE2 is older");

struct Free {
  void operator()(pcre2_code *code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data *data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context *context) const {
    pcre2_match_context_free(context);
  }
};
template <typename T> using Owned = std::unique_ptr<T, Free>;

template <typename T> Owned<T> owned(T *made) {
  if (!made)
    report_bad_alloc_error("a regular expression");
  return Owned<T>(made);
}

std::string messageOf(int code) {
  PCRE2_UCHAR message[256] = {};
  pcre2_get_error_message(code, message, sizeof(message));
  return reinterpret_cast<char *>(message);
}

PCRE2_SPTR unitsOf(StringRef text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

} // namespace

/// A compiled expression. Its buffers serve one thread at a time.
class Pattern::Regex {
public:
  explicit Regex(Owned<pcre2_code> made)
      : code(std::move(made)),
        found(owned(pcre2_match_data_create(1, nullptr))),
        limits(owned(pcre2_match_context_create(nullptr))) {}

  /// Finds the first match from `from` on. Returns false if there is none.
  Expected<bool> find(StringRef text, size_t from, Stretch &match) const {
    setLimits(text.size());
    int result = pcre2_match(code.get(), unitsOf(text), text.size(), from,
                             PCRE2_NO_UTF_CHECK, found.get(), limits.get());
    if (result == PCRE2_ERROR_NOMATCH)
      return false;
    if (result < 0)
      return makeError("matching a regular expression from byte {0} on: {1}",
                       from, messageOf(result));
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(found.get());
    match = {ends[0], ends[1], true};
    return true;
  }

private:
  /// What a match may take grows with the text, so that a pattern that tries
  /// everything in turn ends with an error before long.
  void setLimits(size_t bytes) const {
    constexpr size_t mostBytes = size_t(1) << 26;
    auto most = static_cast<uint32_t>(std::min(bytes, mostBytes));
    pcre2_set_match_limit(limits.get(), 100'000 + 16 * most);
    pcre2_set_heap_limit(limits.get(), 20'000 + most / 4); // in KiB
  }

  Owned<pcre2_code> code;
  Owned<pcre2_match_data> found;
  Owned<pcre2_match_context> limits;
};

Pattern Pattern::ofText(std::string text) {
  Pattern made;
  made.literal = std::move(text);
  return made;
}

Expected<Pattern> Pattern::ofRegex(StringRef pattern) {
  auto translated = pcreSyntax(pattern);
  if (!translated)
    return translated.takeError();
  int problem = 0;
  PCRE2_SIZE place = 0;
  // As in Oniguruma, ^ and $ are the ends of lines.
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE |
                     PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C;
  Owned<pcre2_code> code(pcre2_compile(unitsOf(*translated), translated->size(),
                                       options, &problem, &place, nullptr));
  if (!code)
    return makeError("is no regular expression: {0}", messageOf(problem));
  Pattern made;
  made.regex = std::make_shared<const Regex>(std::move(code));
  return made;
}

Error Pattern::split(StringRef text, StretchSink each) const {
  size_t done = 0; // the end of the last match
  std::optional<size_t> lastEnd;
  for (size_t from = 0; from <= text.size();) {
    Stretch match = {text.find(literal, from), 0, true};
    if (!regex) {
      if (match.begin == StringRef::npos)
        break;
      match.end = match.begin + literal.size();
    } else {
      auto found = regex->find(text, from, match);
      if (!found)
        return found.takeError();
      if (!*found)
        break;
    }
    // An empty match where the last one ended is none.
    if (match.begin == match.end && lastEnd == match.end) {
      from += std::max<size_t>(characterLength(text.substr(from)), 1);
      continue;
    }
    if (match.begin > done)
      each({done, match.begin, false});
    each(match);
    lastEnd = done = from = match.end;
  }
  if (done < text.size())
    each({done, text.size(), false});
  return Error::success();
}

} // namespace mp::tokenizers
