//===- TokenizeTexts.cpp - the tokens of whole files ----------------------===//
#include "runtime/data/Array.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "support/Json.h"
#include "support/OutputFile.h"
#include "tools/common/Common.h"
#include "tools/data/Tokenize.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace mp::tokenizers;

namespace mp::tool {

namespace {

/// A part of an input's text.
struct Part {
  const MappedFile *file;
  StringRef text;
  bool isEnd; ///< of its input
};

/// The texts of the inputs, and what is made of them.
class Texts {
public:
  explicit Texts(const TokenizeOptions &options)
      : options(options), choice(options.tokenizer) {}

  Error open();
  Error write() const;

private:
  Error writeParts(StringRef path, ArrayRef<Part> parts) const;
  Error encode(const Part &part, std::string &bytes, uint64_t &count) const;
  void split(std::vector<Part> &train, std::vector<Part> &rest) const;
  /// What the share for training is counted in.
  uint64_t unitsOf(StringRef text) const;

  const TokenizeOptions &options;
  TokenizerChoice choice;
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::unique_ptr<Tokenizer> tokenizer;
  ElementType type = ElementType::U16;
  std::optional<Token> end;
};

Error Texts::open() {
  for (const std::string &path : options.inputs) {
    auto file = mapFile(path);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
    if (Error error = choice.add(files.back()->getBuffer()))
      return makeError("{0}: {1}", path, toString(std::move(error)));
  }
  auto made = choice.make();
  if (!made)
    return made.takeError();
  tokenizer = std::move(*made);
  auto fitting = tokenType(tokenizer->vocabularySize(), options.dtype);
  if (!fitting)
    return fitting.takeError();
  type = *fitting;
  if (options.end.empty())
    return Error::success();
  auto token = findToken(*tokenizer, "end", options.end);
  if (!token)
    return token.takeError();
  end = *token;
  return Error::success();
}

uint64_t Texts::unitsOf(StringRef text) const {
  if (choice.countsBytes())
    return text.size();
  return count_if(text.bytes(),
                  [](uint8_t byte) { return (byte & 0xC0) != 0x80; });
}

void Texts::split(std::vector<Part> &train, std::vector<Part> &rest) const {
  uint64_t total = 0;
  for (const auto &file : files)
    total += unitsOf(file->getBuffer());
  bool hasRest = !options.validation.empty();
  auto left = static_cast<uint64_t>(std::floor(total * options.trainFraction));
  for (const auto &file : files) {
    StringRef text = file->getBuffer();
    size_t cut = hasRest ? 0 : text.size();
    while (left && cut < text.size()) {
      size_t bytes =
          choice.countsBytes() ? 1 : characterLength(text.substr(cut));
      cut += bytes;
      --left;
    }
    bool isWhole = cut == text.size();
    if (cut)
      train.push_back({file.get(), text.take_front(cut), isWhole});
    if (!isWhole)
      rest.push_back({file.get(), text.drop_front(cut), true});
  }
}

Error Texts::encode(const Part &part, std::string &bytes,
                    uint64_t &count) const {
  Tokens tokens;
  Error error = tokenizer->encode(part.text, tokens);
  // That the file has changed explains what it holds.
  if (Error changed = part.file->check())
    return consumeError(std::move(error)), std::move(changed);
  if (error)
    return makeError("{0}: {1}", part.file->path(), toString(std::move(error)));
  if (end && part.isEnd)
    tokens.push_back(*end);
  appendTokens(tokens, type, bytes);
  count += tokens.size();
  return Error::success();
}

Error Texts::writeParts(StringRef path, ArrayRef<Part> parts) const {
  uint64_t count = 0;
  auto writer = [&](OutputFile &file) -> Error {
    for (const Part &part : parts) {
      std::string bytes;
      if (Error error = encode(part, bytes, count))
        return error;
      if (Error error = file.write(bytes))
        return error;
    }
    return Error::success();
  };
  if (Error error = writeAtomically(path, writer))
    return error;
  json::Object description{{"dtype", dtypeName(type)},
                           {"tokens", count},
                           {"vocabulary_size", tokenizer->vocabularySize()}};
  choice.describe(description);
  outs() << path << ": " << count << " tokens of " << dtypeName(type)
         << ", from a vocabulary of " << tokenizer->vocabularySize() << "\n";
  return writeJsonFile(descriptionOf(path), std::move(description));
}

Error Texts::write() const {
  std::vector<Part> train, rest;
  split(train, rest);
  if (Error error = writeParts(options.out, train))
    return error;
  if (options.validation.empty())
    return Error::success();
  return writeParts(options.validation, rest);
}

} // namespace

Error tokenizeTexts(const TokenizeOptions &options) {
  Texts texts(options);
  if (Error error = texts.open())
    return error;
  return texts.write();
}

} // namespace mp::tool
