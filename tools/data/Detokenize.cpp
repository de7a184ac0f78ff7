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

/// Reads the type of the tokens, and the tokenizer if no option names it.
Expected<ElementType> readDescription(DetokenizeOptions &options) {
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
  return *dtype == "uint16" ? ElementType::U16 : ElementType::U32;
}

Error print(DetokenizeOptions &options) {
  auto type = readDescription(options);
  if (!type)
    return type.takeError();
  auto tokenizer = TokenizerChoice(options.tokenizer).make();
  if (!tokenizer)
    return tokenizer.takeError();
  auto file = mapFile(options.path);
  if (!file)
    return file.takeError();
  Tokens tokens = tokensOf((*file)->getBuffer(), *type);
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
