//===- Detokenize.cpp - mp-data detokenize --------------------------------===//
#include "program/Limits.h"
#include "runtime/data/Array.h"
#include "runtime/text/TokenFile.h"
#include "support/Error.h"
#include "support/Json.h"
#include "tools/data/Commands.h"

using namespace llvm;
using namespace mp::tokenizers;

namespace mp::tool {

namespace {

struct DetokenizeOptions {
  std::string path, tokenizer;
  uint64_t first = 0, count = UINT64_MAX;
};

/// What FILE.json says of the tokens.
struct Description {
  ElementType type;
  std::optional<int64_t> tokens; ///< how many there are
};

/// Reads the description, and the tokenizer if no option names it.
Expected<Description> readDescription(DetokenizeOptions &options) {
  std::string path = descriptionOf(options.path);
  auto text = readFile(path);
  if (!text)
    return text.takeError();
  auto file = parseJson((*text)->getBuffer());
  if (!file)
    return makeError("{0}: {1}", path, toString(file.takeError()));
  const json::Object *object = file->getAsObject();
  std::optional<StringRef> dtype, made;
  if (object) {
    dtype = object->getString("dtype");
    made = object->getString("tokenizer");
  }
  if (!dtype || (*dtype != "uint16" && *dtype != "uint32") || !made)
    return makeError("{0}: expected a dtype, uint16 or uint32, and a tokenizer",
                     path);
  if (options.tokenizer.empty())
    options.tokenizer = *made == "characters" ? path : made->str();
  return Description{*dtype == "uint16" ? ElementType::U16 : ElementType::U32,
                     object->getInteger("tokens")};
}

/// Fails if a file of so many bytes is not what its description says.
Error checkSize(const DetokenizeOptions &options, const Description &file,
                uint64_t bytes) {
  unsigned width = byteWidth(file.type);
  if (bytes % width)
    return makeError("{0}: has {1} bytes, and each token of {2} takes {3}",
                     options.path, bytes, dtypeName(file.type), width);
  if (file.tokens && bytes / width != static_cast<uint64_t>(*file.tokens))
    return makeError("{0}: has {1} tokens, and {2} says {3}", options.path,
                     bytes / width, descriptionOf(options.path), *file.tokens);
  return Error::success();
}

Error print(DetokenizeOptions &options) {
  auto description = readDescription(options);
  if (!description)
    return description.takeError();
  auto tokenizer = TokenizerChoice(options.tokenizer).make();
  if (!tokenizer)
    return tokenizer.takeError();
  auto file = mapFile(options.path);
  if (!file)
    return file.takeError();
  StringRef bytes = (*file)->getBuffer();
  if (Error error = checkSize(options, *description, bytes.size()))
    return error;
  Tokens tokens = tokensOf(bytes, description->type);
  if (Error changed = (*file)->check())
    return changed;
  if (options.first > tokens.size())
    return makeError("{0}: has {1} tokens, expected more than {2}",
                     options.path, tokens.size(), options.first);
  ArrayRef<Token> shown = ArrayRef(tokens).drop_front(options.first);
  shown = shown.take_front(std::min<uint64_t>(options.count, shown.size()));
  for (auto [i, token] : enumerate(shown))
    if (token >= (*tokenizer)->vocabularySize())
      return makeError("{0}: token {1} is {2}, expected numbers below {3}",
                       options.path, options.first + i, token,
                       (*tokenizer)->vocabularySize());
  outs() << (*tokenizer)->decode(shown);
  return Error::success();
}

} // namespace

int detokenize(ArrayRef<const char *> arguments) {
  DetokenizeOptions options;
  Command command{"detokenize", "FILE [options]",
                  "Prints the text of a file of tokens, which FILE.json beside "
                  "it describes."};
  command.positional = 1;
  command.options = {text("tokenizer", "TOKENIZER", options.tokenizer,
                          "the tokenizer (the one that FILE.json names)"),
                     number(
                         "first", [&](uint64_t n) { options.first = n; }, 0,
                         kMostElements, "the first token (0)"),
                     number(
                         "count", [&](uint64_t n) { options.count = n; }, 1,
                         kMostElements, "how many tokens (all)")};
  auto words = command.parse(arguments);
  if (!words)
    return report(words.takeError());
  if (!*words)
    return 0;
  options.path = (**words)[0];
  Error error = print(options);
  return error ? report(std::move(error)) : 0;
}

} // namespace mp::tool
