//===- NamedModels.cpp - zoo:NAME in place of a module's file -------------===//
#include "tools/common/NamedModels.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Npy.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace mp::tool {

static std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const models::Model &model : models::allModels())
    all.push_back(model.name);
  for (const models::TextModel &model : models::allTextModels())
    all.push_back(model.name);
  return all;
}

/// Adds a network of images; options of text are none of its.
static std::string build(mantissa::Graph &net, const models::Model &model,
                         const ZooOptions &options) {
  if (options.tokens || options.vocabulary || options.layers || options.texts ||
      options.streams || options.dropout || options.isPacked ||
      !options.classWeights.empty())
    return "it takes images: tokens, vocabulary, layers, texts, streams, "
           "dropout, packed and class-weights are of networks of text";
  return models::build(net, model, options);
}

/// Reads the weights that mp-data class-weights writes.
static Expected<std::vector<double>> readWeights(StringRef path) {
  Expected<Array> array = readNpy(path);
  if (!array)
    return array.takeError();
  if (!isFloat(array->type.element) || array->type.shape.size() != 1)
    return makeError("{0}: holds {1}, expected a weight for each class, as "
                     "mp-data class-weights writes them",
                     path, array->type.str());
  std::vector<double> weights;
  uint64_t width = byteWidth(array->type.element);
  for (uint64_t at = 0; at < array->bytes.size(); at += width) {
    weights.push_back(
        loadElement(array->type.element, array->bytes.data() + at));
    if (!(weights.back() >= 0) || std::isinf(weights.back()))
      return makeError("{0}: weight {1} is {2}, expected a finite number from "
                       "0 on",
                       path, weights.size() - 1, weights.back());
  }
  return weights;
}
static std::string build(mantissa::Graph &net, const models::TextModel &model,
                         const ZooOptions &options) {
  if (options.side || !options.images.empty() || !options.augment.empty())
    return "it takes text: image, data and augment are of networks of images";
  models::TextOptions text{
      options.tokens,  options.vocabulary, options.layers,
      options.classes, options.texts,      options.streams,
      options.width,   options.dropout,    options.isPacked};
  if (!options.classWeights.empty()) {
    auto weights = readWeights(options.classWeights);
    if (!weights)
      return toString(weights.takeError());
    text.classWeights = std::move(*weights);
  }
  return models::build(net, model, text);
}

/// The message of a mistake, without its place in the code of the network.
static StringRef messageOf(StringRef mistake) {
  return mistake.split('\n').first.split("error: ").second;
}

/// The text of the model of that name, or nothing.
template <typename Model>
static std::optional<Expected<std::string>>
moduleAmong(std::span<const Model> all, StringRef name,
            const ZooOptions &options) {
  auto model = std::ranges::find(all, name.str(), &Model::name);
  if (model == all.end())
    return std::nullopt;
  std::string module = model->name;
  std::ranges::replace(module, '-', '_');
  mantissa::Graph net(module);
  std::string mistake = build(net, *model, options);
  if (!mistake.empty())
    return makeError("{0}: {1}", name, mistake);
  // Images may be too small for the network's windows.
  if (!net.mistakes().empty())
    return makeError("{0}: is not built in this size: {1}", name,
                     messageOf(net.mistakes().front()));
  return net.text(/*locations=*/false);
}

Expected<std::string> moduleOfModel(StringRef name, const ZooOptions &options) {
  if (auto text = moduleAmong(models::allModels(), name, options))
    return std::move(*text);
  if (auto text = moduleAmong(models::allTextModels(), name, options))
    return std::move(*text);
  return makeError(
      "no network is called '{0}'{1}; mp-zoo list prints the names", name,
      suggest(name, names()));
}

/// Sets the option that "width=0.25" names.
static Error set(ZooOptions &options, StringRef text) {
  auto [name, value] = text.split('=');
  if (name == "data" || name == "augment") {
    (name == "data" ? options.images : options.augment) = value.str();
    return Error::success();
  }
  if (name == "class-weights") {
    options.classWeights = value.str();
    return Error::success();
  }
  if (name == "width") {
    if (!to_float(value, options.width) || !(options.width > 0) ||
        options.width > kLargestWidth)
      return makeError("zoo: width takes a number above zero and at most {0}, "
                       "not '{1}'",
                       kLargestWidth, value);
    return Error::success();
  }
  if (name == "dropout") {
    double probability;
    if (!to_float(value, probability) || !(probability >= 0 && probability < 1))
      return makeError("zoo: dropout takes a number from 0 to below 1, not "
                       "'{0}'",
                       value);
    options.dropout = probability;
    return Error::success();
  }
  if (name == "packed") {
    options.isPacked = value == "1";
    return value == "0" || value == "1"
               ? Error::success()
               : makeError("zoo: packed takes 0 or 1, not '{0}'", value);
  }
  int64_t *number = StringSwitch<int64_t *>(name)
                        .Case("classes", &options.classes)
                        .Case("image", &options.side)
                        .Case("tokens", &options.tokens)
                        .Case("vocabulary", &options.vocabulary)
                        .Case("layers", &options.layers)
                        .Case("texts", &options.texts)
                        .Case("streams", &options.streams)
                        .Default(nullptr);
  if (!number)
    return makeError(
        "zoo: unknown option '{0}', expected width, classes, image, data, "
        "augment, tokens, vocabulary, layers, texts, streams, dropout, packed "
        "or class-weights",
        name);
  if (!to_integer(value, *number) || *number < 1 || *number > INT32_MAX)
    return makeError("zoo: {0} takes a whole number above zero, not '{1}'",
                     name, value);
  return Error::success();
}

Expected<std::string> moduleOfModel(StringRef text) {
  auto [name, rest] = text.split(',');
  ZooOptions options;
  SmallVector<StringRef> words;
  rest.split(words, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (Error error = set(options, word))
      return std::move(error);
  return moduleOfModel(name, options);
}

void nameModels() { nameModules("zoo", moduleOfModel); }

} // namespace mp::tool
