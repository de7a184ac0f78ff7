//===- TokenizerFile.cpp - reads a tokenizer.json -------------------------===//
//
// The format of Hugging Face's tokenizers. Its parts are applied as there, but
// for `truncation` and `padding`, which a file of tokens has no use for.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/Array.h"
#include "runtime/text/Pipeline.h"
#include "runtime/text/TokenizerStages.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "support/Json.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp::tokenizers {

namespace {

/// `vocab`: an object of tokens and their numbers.
bool readVocabulary(const JsonField &field, Vocabulary &vocabulary) {
  return field.members([&](StringRef name, const JsonField &number) {
    uint64_t token = 0;
    if (number.read(token))
      return true;
    Error error = vocabulary.add(name, token);
    return error && field.fail(toString(std::move(error)));
  });
}

/// Reads the name of a token, which the vocabulary must have.
bool readToken(const JsonField &field, const Vocabulary &vocabulary,
               Token &token) {
  std::string name;
  if (field.read(name))
    return true;
  std::optional<Token> found = vocabulary.find(name);
  if (!found)
    return field.fail("the vocabulary has no token '" + printableName(name) +
                      "'");
  token = *found;
  return false;
}

/// A merge: "a b", or ["a", "b"].
bool readMerge(const JsonField &field, BytePairs &model) {
  std::string both, left, right;
  if (field.isString()) {
    if (field.read(both))
      return true;
    auto [first, second] = StringRef(both).split(' ');
    if (first.empty() || second.empty() || second.contains(' '))
      return field.expected("two tokens with a space between them");
    left = first.str();
    right = second.str();
  } else {
    size_t count = 0;
    if (field.elements([&](const JsonField &token) {
          return token.read(count++ ? right : left);
        }))
      return true;
    if (count != 2)
      return field.expected("two tokens");
  }
  Error error = model.addMerge(left, right);
  return error && field.fail(toString(std::move(error)));
}

bool readBytePairs(const JsonField &field, BytePairs &model) {
  double dropout = 0;
  if (field["dropout"].readIfThere(dropout))
    return true;
  if (dropout != 0)
    return field["dropout"].expected("none or 0, as all merges are made");
  if (field["continuing_subword_prefix"].readIfThere(model.continuingPrefix) ||
      field["end_of_word_suffix"].readIfThere(model.endSuffix) ||
      field["fuse_unk"].readIfThere(model.fusesUnknown) ||
      field["byte_fallback"].readIfThere(model.byteFallback) ||
      field["ignore_merges"].readIfThere(model.ignoresMerges) ||
      readVocabulary(field["vocab"], model.vocabulary))
    return true;
  if (JsonField unknown = field["unk_token"]) {
    Token token;
    if (readToken(unknown, model.vocabulary, token))
      return true;
    model.unknown = token;
  }
  return field["merges"].elements(
      [&](const JsonField &merge) { return readMerge(merge, model); });
}

bool readWordPiece(const JsonField &field, WordPiece &model) {
  return field["continuing_subword_prefix"].readIfThere(
             model.continuingPrefix) ||
         field["max_input_chars_per_word"].readIfThere(model.mostCharacters) ||
         readVocabulary(field["vocab"], model.vocabulary) ||
         readToken(field["unk_token"], model.vocabulary, model.unknown);
}

/// A piece of a vocabulary and its score: ["a", -2.5].
bool readPiece(const JsonField &field, Unigram &model) {
  std::string piece;
  double score = 0;
  size_t count = 0;
  if (field.elements([&](const JsonField &part) {
        return count++ ? part.read(score) : part.read(piece);
      }))
    return true;
  if (count != 2)
    return field.expected("a piece and its score");
  Error error = model.add(piece, score);
  return error && field.fail(toString(std::move(error)));
}

bool readUnigram(const JsonField &field, Unigram &model) {
  uint64_t unknown = 0;
  if (field["byte_fallback"].readIfThere(model.byteFallback) ||
      field["vocab"].elements(
          [&](const JsonField &piece) { return readPiece(piece, model); }) ||
      field["unk_id"].read(unknown))
    return true;
  if (unknown >= model.vocabulary.size())
    return field["unk_id"].expected("the place of a piece in the vocabulary");
  model.unknown = static_cast<Token>(unknown);
  model.sortPieces();
  return false;
}

template <typename T>
bool readAs(bool (*read)(const JsonField &, T &), const JsonField &field,
            std::unique_ptr<Model> &model) {
  auto made = std::make_unique<T>();
  bool failed = read(field, *made);
  model = std::move(made);
  return failed;
}

bool readModel(const JsonField &field, std::unique_ptr<Model> &model) {
  std::string type;
  // Old files do not name it: only BPE has merges.
  if (field.isNoObject() || (field["type"] && field["type"].read(type)))
    return true;
  if (type.empty())
    type = field["merges"] ? "BPE" : "WordPiece";
  if (type == "BPE")
    return readAs(readBytePairs, field, model);
  if (type == "WordPiece")
    return readAs(readWordPiece, field, model);
  if (type == "Unigram")
    return readAs(readUnigram, field, model);
  return field["type"].expected("BPE, WordPiece or Unigram");
}

bool readAddedToken(const JsonField &field, Pipeline &to) {
  AddedToken token;
  uint64_t number = 0;
  if (field["id"].read(number) || field["content"].read(token.content) ||
      field["single_word"].readIfThere(token.singleWord) ||
      field["lstrip"].readIfThere(token.stripLeft) ||
      field["rstrip"].readIfThere(token.stripRight) ||
      field["normalized"].readIfThere(token.isNormalized))
    return true;
  if (number >= kMostTokens)
    return field["id"].expected("a number below " + Twine(kMostTokens));
  token.token = static_cast<Token>(number);
  Error error = to.add(std::move(token));
  return error && field.fail(toString(std::move(error)));
}

/// The tokens around texts: ["[SEP]", 102]. RoBERTa has two between its texts,
/// and no types.
bool readEnds(const JsonField &field, Pipeline &to, bool isBert) {
  Token cls = 0, sep = 0;
  for (auto [name, token] : {std::pair("cls", &cls), std::pair("sep", &sep)}) {
    size_t place = 0;
    std::string text;
    uint64_t number = 0;
    if (field[name].elements([&](const JsonField &part) {
          return place++ ? part.read(number) : part.read(text);
        }))
      return true;
    if (to.nameOf(number) != text)
      return field[name].fail("is not a token of the vocabulary");
    *token = static_cast<Token>(number);
  }
  uint8_t second = isBert ? 1 : 0;
  to.oneText = {{.token = cls}, {.text = 0}, {.token = sep}};
  to.twoTexts = to.oneText;
  if (!isBert)
    to.twoTexts.push_back({.token = sep});
  to.twoTexts.push_back({.text = 1, .type = second});
  to.twoTexts.push_back({.token = sep, .type = second});
  return false;
}

bool readType(const JsonField &field, uint8_t &type) {
  uint64_t number = 0;
  if (field.readIfThere(number))
    return true;
  if (number > UINT8_MAX)
    return field.expected("a type below 256");
  type = static_cast<uint8_t>(number);
  return false;
}

/// A text of a template, "A" or "B".
bool readText(const JsonField &field, unsigned texts, Template &to) {
  std::string name;
  uint8_t type = 0;
  if (field["id"].read(name) || readType(field["type_id"], type))
    return true;
  if (name != "A" && (name != "B" || texts < 2))
    return field["id"].expected(texts < 2 ? "A" : "A or B");
  to.push_back({.text = name == "B" ? 1 : 0, .type = type});
  return false;
}

/// A template of so many texts, and the tokens around them.
bool readTemplate(const JsonField &field, const JsonField &specialTokens,
                  unsigned texts, const Pipeline &pipeline, Template &to) {
  to.clear();
  return field.elements([&](const JsonField &part) {
    if (JsonField text = part["Sequence"])
      return readText(text, texts, to);
    std::string name;
    uint8_t type = 0;
    if (part["SpecialToken"]["id"].read(name) ||
        readType(part["SpecialToken"]["type_id"], type))
      return true;
    return specialTokens[name]["ids"].elements([&](const JsonField &id) {
      uint64_t number = 0;
      if (id.read(number))
        return true;
      if (!pipeline.nameOf(number).data())
        return id.fail("is not a token of the vocabulary");
      to.push_back({.token = static_cast<Token>(number), .type = type});
      return false;
    });
  });
}

/// Files for one text alone have no "pair".
bool readTemplates(const JsonField &field, Pipeline &to) {
  JsonField specialTokens = field["special_tokens"], pair = field["pair"];
  return readTemplate(field["single"], specialTokens, 1, to, to.oneText) ||
         (pair && readTemplate(pair, specialTokens, 2, to, to.twoTexts));
}

bool readPostProcessor(const JsonField &field, Pipeline &to) {
  std::string type;
  if (!field)
    return false;
  if (field["type"].read(type))
    return true;
  if (type == "ByteLevel") // concerns offsets alone
    return false;
  if (type == "Sequence")
    return field["processors"].elements(
        [&](const JsonField &part) { return readPostProcessor(part, to); });
  if (type == "TemplateProcessing")
    return readTemplates(field, to);
  if (type == "BertProcessing" || type == "RobertaProcessing")
    return readEnds(field, to, /*isBert=*/type == "BertProcessing");
  return field["type"].expected("ByteLevel, Sequence, TemplateProcessing, "
                                "BertProcessing or RobertaProcessing");
}

bool readPipeline(const JsonField &file, Pipeline &to) {
  return readModel(file["model"], to.model) ||
         readNormalizer(file["normalizer"], to.normalizer) ||
         readPreTokenizer(file["pre_tokenizer"], to.preTokenizer) ||
         (file["added_tokens"] &&
          file["added_tokens"].elements([&](const JsonField &token) {
            return readAddedToken(token, to);
          })) ||
         readPostProcessor(file["post_processor"], to) ||
         readDecoder(file["decoder"], to.decoder);
}

/// The description of a file of tokens, which says what made them.
bool readDescription(const JsonField &file,
                     std::unique_ptr<Tokenizer> &tokenizer) {
  std::string name, characters;
  if (file["tokenizer"].read(name))
    return true;
  if (name == "bytes")
    return tokenizer = byteTokenizer(), false;
  if (name != "characters")
    return file["tokenizer"].fail("is " + printableName(name) +
                                  ": give that file itself");
  if (file["characters"].read(characters))
    return true;
  std::vector<char32_t> all;
  for (StringRef rest = characters; !rest.empty();)
    all.push_back(takeCharacter(rest));
  tokenizer = characterTokenizer(std::move(all));
  return false;
}

} // namespace

Expected<std::unique_ptr<Tokenizer>> parseTokenizer(StringRef text,
                                                    StringRef path) {
  auto file = parseJson(text);
  if (!file)
    return makeError("{0}: {1}", path, toString(file.takeError()));
  std::string problem;
  JsonField root(&*file, "", problem);
  if (!file->getAsObject())
    return makeError("{0}: expected a tokenizer.json, an object", path);
  std::unique_ptr<Tokenizer> tokenizer;
  bool failed;
  if (root["tokenizer"]) {
    failed = readDescription(root, tokenizer);
  } else {
    auto pipeline = std::make_unique<Pipeline>();
    failed = readPipeline(root, *pipeline);
    tokenizer = std::move(pipeline);
  }
  if (failed)
    return makeError("{0}: {1}", path, problem);
  return tokenizer;
}

/// By its name: "tokenizer.model", or "tokenizer.model.v3" as Mistral's.
static bool isModel(StringRef path) {
  StringRef name = sys::path::filename(path);
  return name.contains(".model") && !name.ends_with(".json");
}

Expected<std::unique_ptr<Tokenizer>> readTokenizer(StringRef path) {
  auto text = readFile(path);
  if (!text)
    return text.takeError();
  if (isModel(path))
    return parseSentencePieces((*text)->getBuffer(), path);
  return parseTokenizer((*text)->getBuffer(), path);
}

} // namespace mp::tokenizers
