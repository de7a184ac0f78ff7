//===- TokenizeRows.cpp - the tokens of a field of each row ---------------===//
#include "runtime/data/Array.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Npy.h"
#include "runtime/text/Rows.h"
#include "support/Error.h"
#include "support/Json.h"
#include "tools/common/Common.h"
#include "tools/data/PackTexts.h"
#include "tools/data/Tokenize.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace mp::tokenizers;

namespace mp::tool {

namespace {

/// Where a row stands, for messages.
struct Place {
  StringRef path;
  size_t line;
};

class Table {
public:
  explicit Table(const TokenizeOptions &options)
      : options(options), choice(options.tokenizer) {}

  Error read();
  Error write();

private:
  Error prepare();
  Error encode();
  Error encodePacked();
  Error writePlaces(StringRef path, ArrayRef<uint16_t> numbers) const;
  Error keepNumbers();
  Error numberClasses();
  Error readClasses();
  Error writeNumbers(StringRef path, ArrayRef<int32_t> numbers) const;
  Error describe() const;

  const TokenizeOptions &options;
  TokenizerChoice choice;
  std::vector<Place> places; ///< of rows
  std::vector<std::string> texts, pairs, labels;

  std::unique_ptr<Tokenizer> tokenizer;
  ElementType type = ElementType::U16;
  Token pad = 0;
  std::optional<Token> end; ///< of each packed text
  size_t rows = 0;          ///< that are written
  PackedTexts packed;
  std::string bytes;
  std::vector<uint8_t> types;
  std::vector<int32_t> lengths, numbers;
  /// By their numbers; none if the labels are numbers themselves.
  std::vector<std::string> classes;
};

Error located(const Place &place, Error error) {
  return makeError("{0}: line {1}: {2}", place.path, place.line,
                   toString(std::move(error)));
}

Error Table::read() {
  std::vector<std::string> fields = {options.field};
  bool hasPair = !options.pair.empty(), hasLabel = !options.label.empty();
  if (hasPair)
    fields.push_back(options.pair);
  if (hasLabel)
    fields.push_back(options.label);
  for (const std::string &path : options.inputs)
    if (Error error = readRows(
            path, fields,
            [&](ArrayRef<std::string> values, size_t line) -> Error {
              places.push_back({path, line});
              texts.push_back(values[0]);
              if (hasLabel)
                labels.push_back(values.back());
              if (!hasPair)
                return choice.add(values[0]);
              pairs.push_back(values[1]);
              return joinErrors(choice.add(values[0]), choice.add(values[1]));
            }))
      return error;
  if (texts.empty())
    return makeError("{0}: has no rows", options.inputs.back());
  return Error::success();
}

Error Table::prepare() {
  auto made = choice.make();
  if (!made)
    return made.takeError();
  tokenizer = std::move(*made);
  if (!options.specialTokens) {
    auto isToken = [](const TemplatePart &part) { return !part.text; };
    erase_if(tokenizer->oneText, isToken);
    erase_if(tokenizer->twoTexts, isToken);
  }
  auto fitting = tokenType(tokenizer->vocabularySize(), options.dtype);
  if (!fitting)
    return fitting.takeError();
  type = *fitting;
  if (!options.end.empty()) {
    auto token = findToken(*tokenizer, "end", options.end);
    if (!token)
      return token.takeError();
    end = *token;
  }
  if (options.pad.empty()) {
    pad = tokenizer->find("[PAD]").value_or(0);
    return Error::success();
  }
  auto token = findToken(*tokenizer, "pad", options.pad);
  if (!token)
    return token.takeError();
  pad = *token;
  return Error::success();
}

Error Table::encode() {
  rows = texts.size();
  for (auto [row, place] : enumerate(places)) {
    SmallVector<StringRef, 2> ofRow = {texts[row]};
    if (!pairs.empty())
      ofRow.push_back(pairs[row]);
    auto sample = encodeSample(*tokenizer, ofRow, options.length);
    if (!sample)
      return located(place, sample.takeError());
    auto &[tokens, kinds] = *sample;
    lengths.push_back(static_cast<int32_t>(tokens.size()));
    tokens.resize(options.length, pad);
    appendTokens(tokens, type, bytes);
    kinds.resize(options.length);
    append_range(types, kinds);
  }
  return Error::success();
}

Error Table::encodePacked() {
  std::vector<std::vector<Token>> encoded;
  size_t most = options.length - (end ? 1 : 0);
  for (auto [text, place] : zip_equal(texts, places)) {
    auto sample = encodeSample(*tokenizer, StringRef(text), most);
    if (!sample)
      return located(place, sample.takeError());
    std::vector<Token> &own = encoded.emplace_back(std::move(sample->tokens));
    if (end)
      own.push_back(*end);
  }
  packed = packTexts(encoded, options.length, pad);
  rows = packed.rows;
  if (!rows)
    return makeError("{0}: the texts have no tokens", options.inputs.back());
  appendTokens(packed.tokens, type, bytes);
  return Error::success();
}

/// Returns whether all labels are numbers, and so no names of classes.
bool areNumbers(ArrayRef<std::string> labels) {
  return all_of(labels, [](StringRef label) {
    double number;
    return !label.getAsDouble(number) && any_of(label, isDigit);
  });
}

/// Reads the classes of an earlier file's description.
Error Table::readClasses() {
  auto text = readFile(options.classes);
  if (!text)
    return text.takeError();
  auto file = parseJson((*text)->getBuffer());
  if (!file)
    return makeError("{0}: {1}", options.classes, toString(file.takeError()));
  const json::Object *object = file->getAsObject();
  const json::Array *names = object ? object->getArray("classes") : nullptr;
  if (!names)
    return makeError("{0}: has no classes, an array of names", options.classes);
  for (const json::Value &name : *names) {
    auto known = name.getAsString();
    if (!known)
      return makeError("{0}: classes: expected names", options.classes);
    if (is_contained(classes, *known))
      return makeError("{0}: classes: '{1}' is there more than once",
                       options.classes, *known);
    classes.push_back(known->str());
  }
  return Error::success();
}

/// Keeps labels that are numbers, such as that of samples that do not count.
Error Table::keepNumbers() {
  for (auto [label, place] : zip_equal(labels, places))
    if (StringRef(label).getAsInteger(10, numbers.emplace_back()))
      return located(place, makeError("class {0} is no integer of 32 bits; as "
                                      "a name it is numbered by --classes",
                                      label));
  return Error::success();
}

Error Table::numberClasses() {
  bool isGiven = !options.classes.empty();
  if (!isGiven && areNumbers(labels))
    return keepNumbers();
  if (isGiven) {
    if (Error error = readClasses())
      return error;
  } else {
    classes = labels;
    sort(classes);
    classes.erase(llvm::unique(classes), classes.end());
  }
  for (auto [label, place] : zip_equal(labels, places)) {
    auto found = find(classes, label);
    if (found == classes.end())
      return located(place, makeError("class '{0}' is not one of {1}", label,
                                      options.classes));
    numbers.push_back(static_cast<int32_t>(found - classes.begin()));
  }
  return Error::success();
}

Error Table::writeNumbers(StringRef path, ArrayRef<int32_t> numbers) const {
  if (path.empty())
    return Error::success();
  return writeNpy(
      path, {ElementType::I32, {static_cast<int64_t>(numbers.size())}},
      {reinterpret_cast<const char *>(numbers.data()), numbers.size() * 4});
}

Error Table::writePlaces(StringRef path, ArrayRef<uint16_t> numbers) const {
  if (path.empty())
    return Error::success();
  return writeNpy(
      path,
      {ElementType::U16,
       {static_cast<int64_t>(rows), static_cast<int64_t>(options.length)}},
      {reinterpret_cast<const char *>(numbers.data()), numbers.size() * 2});
}

Error Table::describe() const {
  json::Object description{{"dtype", dtypeName(type)},
                           {"rows", rows},
                           {"length", options.length},
                           {"vocabulary_size", tokenizer->vocabularySize()}};
  choice.describe(description);
  if (!classes.empty())
    description["classes"] = json::Array(classes);
  return writeJsonFile(descriptionOf(options.out), std::move(description));
}

Error Table::write() {
  if (Error error = prepare())
    return error;
  if (Error error = options.isPacked() ? encodePacked() : encode())
    return error;
  if (!labels.empty())
    if (Error error = numberClasses())
      return error;
  auto count = static_cast<int64_t>(rows);
  auto length = static_cast<int64_t>(options.length);
  if (Error error = writeNpy(options.out, {type, {count, length}}, bytes))
    return error;
  if (Error error = writePlaces(options.segments, packed.segments))
    return error;
  if (Error error = writePlaces(options.positions, packed.positions))
    return error;
  if (!options.types.empty())
    if (Error error = writeNpy(
            options.types, {ElementType::U8, {count, length}},
            {reinterpret_cast<const char *>(types.data()), types.size()}))
      return error;
  if (Error error = writeNumbers(options.lengths, lengths))
    return error;
  if (Error error = writeNumbers(options.labels, numbers))
    return error;
  outs() << options.out << ": " << rows << " rows of " << length
         << " tokens of " << dtypeName(type) << ", from a vocabulary of "
         << tokenizer->vocabularySize() << "\n";
  if (options.isPacked())
    outs() << options.segments << ": " << texts.size() << " texts, which fill "
           << format("%.1f", 100.0 * packed.filled / packed.tokens.size())
           << "% of the rows\n";
  if (!classes.empty())
    outs() << options.labels << ": " << classes.size() << " classes\n";
  return describe();
}

} // namespace

Error tokenizeRows(const TokenizeOptions &options) {
  Table table(options);
  if (Error error = table.read())
    return error;
  return table.write();
}

} // namespace mp::tool
