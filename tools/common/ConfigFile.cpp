//===- ConfigFile.cpp - options from a JSON file --------------------------===//
#include "runtime/data/Array.h"
#include "support/Error.h"
#include "support/Json.h"
#include "support/Number.h"
#include "tools/common/Options.h"

using namespace llvm;

namespace mp::tool {
namespace {

/// The keys in order, as an object has none.
std::vector<StringRef> keysOf(const json::Object &object) {
  std::vector<StringRef> keys;
  for (const auto &[key, value] : object)
    keys.push_back(key);
  llvm::sort(keys);
  return keys;
}

/// The values of a field as words of a command line: one, each of a list, or
/// "key=value" of each in an object. Nothing if it is neither.
std::optional<std::vector<std::string>> wordsOf(const json::Value &value) {
  auto word = [](const json::Value &each) -> std::optional<std::string> {
    if (auto text = each.getAsString())
      return text->str();
    if (each.getAsUINT64() || each.getAsInteger() || each.getAsBoolean())
      return formatv("{0}", each).str();
    if (auto number = each.getAsNumber())
      return shortestDecimal(*number);
    return std::nullopt;
  };
  std::vector<std::string> words;
  auto add = [&](const json::Value &each, StringRef before) {
    auto text = word(each);
    if (text)
      words.push_back(before.str() + *text);
    return text.has_value();
  };
  if (const json::Array *list = value.getAsArray()) {
    for (const json::Value &each : *list)
      if (!add(each, ""))
        return std::nullopt;
  } else if (const json::Object *object = value.getAsObject()) {
    for (StringRef key : keysOf(*object))
      if (!add(*object->get(key), key.str() + "="))
        return std::nullopt;
  } else if (!add(value, "")) {
    return std::nullopt;
  }
  return words;
}

Expected<json::Object> readObject(StringRef path) {
  auto text = readFile(path);
  if (!text)
    return text.takeError();
  Expected<json::Value> value = parseJson((*text)->getBuffer());
  if (!value)
    return makeError("{0}: {1}", path, toString(value.takeError()));
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return makeError("{0}: expected an object of options and their values", path);
}

/// The file that the words name by --config, or "". It is an error to name
/// none, or two.
Expected<StringRef> configIn(ArrayRef<const char *> words) {
  StringRef path;
  auto take = [&](StringRef given) -> Error {
    if (given.empty())
      return make_error<UsageError>("--config needs a value: FILE");
    if (!path.empty())
      return make_error<UsageError>("--config is given twice: options from "
                                    "both files go into one");
    path = given;
    return Error::success();
  };
  for (size_t i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    if (word == "--")
      break;
    if (!word.consume_front("-"))
      continue;
    word.consume_front("-");
    if (word.consume_front("config=")) {
      if (Error error = take(word))
        return std::move(error);
    } else if (word == "config") {
      if (Error error = take(i + 1 < words.size() ? words[++i] : ""))
        return std::move(error);
    }
  }
  return path;
}

} // namespace

Error Command::applyConfig(ArrayRef<const char *> words,
                           std::vector<NamedFile> &files) const {
  Expected<StringRef> path = configIn(words);
  if (!path || path->empty())
    return path ? Error::success() : path.takeError();
  files.push_back({"--config", path->str(), Names::Input});
  auto object = readObject(*path);
  if (!object)
    return make_error<UsageError>(toString(object.takeError()));
  auto fault = [&](Error error) {
    return make_error<UsageError>(path->str() + ": " +
                                  toString(std::move(error)));
  };
  for (StringRef key : keysOf(*object)) {
    const json::Value &value = *object->get(key);
    Expected<const Option *> option = find(key);
    if (!option)
      return fault(option.takeError());
    if ((*option)->value.empty()) {
      auto flag = value.getAsBoolean();
      if (!flag)
        return fault(makeError("--{0} is true or false", key));
      if (*flag)
        if (Error error = (*option)->set(""))
          return fault(std::move(error));
      continue;
    }
    auto given = wordsOf(value);
    if (!given)
      return fault(makeError("--{0} has a value of another kind than text, a "
                             "number, or a list of these",
                             key));
    for (const std::string &each : *given)
      if (Error error = apply(**option, each, files))
        return fault(std::move(error));
  }
  return Error::success();
}

} // namespace mp::tool
