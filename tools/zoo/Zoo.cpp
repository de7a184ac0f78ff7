//===- Zoo.cpp - mp-zoo ---------------------------------------------------===//
#include "tools/zoo/Zoo.h"
#include "program/Limits.h"
#include "support/Error.h"
#include "tools/common/NamedModels.h"
#include "tools/common/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace mp::tool {
namespace {

/// "pad-crop, flip, ...".
std::string variations() {
  return join(map_range(models::allVariations(),
                        [](const models::Variation &v) { return v.name; }),
              ", ");
}

Error setWidth(ZooOptions &options, StringRef given) {
  double factor;
  if (given.getAsDouble(factor) || !(factor > 0 && factor <= kLargestWidth))
    return make_error<UsageError>(
        formatv("--width takes a number above zero and at most {0}, not '{1}'",
                kLargestWidth, given));
  options.width = factor;
  return Error::success();
}

Error setDropout(ZooOptions &options, StringRef given) {
  double probability;
  if (given.getAsDouble(probability) || !(probability >= 0 && probability < 1))
    return make_error<UsageError>(formatv(
        "--dropout takes a number from 0 to below 1, not '{0}'", given));
  options.dropout = probability;
  return Error::success();
}

Command describe(ZooOptions &options) {
  Command command{
      "", "NAME [options]",
      "Prints a known network as a module: with the files of its data, and a "
      "recipe in bf16.\n'mp-zoo list' prints the names. mp-run and "
      "mp-diff take zoo:NAME for the module's file,\nand "
      "zoo:NAME,width=0.25,classes=10 with options."};
  command.positional = 1;
  command.options = {
      {"width", "X",
       "factor of the numbers of channels, which are rounded to multiples of "
       "8 (1)",
       [&](StringRef given) { return setWidth(options, given); }},
      number(
          "classes", [&](uint64_t n) { options.classes = int64_t(n); }, 2,
          kMostCount, "classes (those of the images)"),
      number(
          "image", [&](uint64_t n) { options.side = int64_t(n); }, 1,
          kMostCount,
          "pixels of a side of the images that the network is given; below 64 "
          "it has its form for small images (the network's)"),
      text("data", "IMAGES", options.images,
           "fashion-mnist, cifar10, cifar100, imagenet or arrays: the images "
           "of the files, which "
           "get zeros around them if they are smaller (the network's)"),
      number(
          "tokens", [&](uint64_t n) { options.tokens = int64_t(n); }, 1,
          kMostCount,
          "tokens of a sample of text, or frames of speech (the network's)"),
      number(
          "vocabulary", [&](uint64_t n) { options.vocabulary = int64_t(n); }, 2,
          kMostCount, "different tokens (the network's)"),
      number(
          "layers", [&](uint64_t n) { options.layers = int64_t(n); }, 1,
          kMostCount, "layers of a network of text (the network's)"),
      number(
          "texts", [&](uint64_t n) { options.texts = int64_t(n); }, 1, 2,
          "texts of a sample that a network classifies: 2 are pairs (1)"),
      number(
          "streams", [&](uint64_t n) { options.streams = int64_t(n); }, 1,
          kMostCount,
          "texts that go on from batch to batch, each in its row, with the "
          "states of char-rnn and lstm-lm (samples are independent)"),
      {"dropout", "X",
       "probability of dropout in a network of text, in training (the "
       "network's)",
       [&](StringRef given) { return setDropout(options, given); }},
      flag("packed", options.isPacked, true,
           "let a sample be several texts, as mp-data tokenize --segments "
           "packs them, for gpt2 and char-gpt"),
      text("class-weights", "FILE", options.classWeights,
           "weights of the classes in the loss of a network of text, as "
           "mp-data class-weights writes them (all the same)",
           Names::Input),
      text("augment", "LIST", options.augment,
           "what varies the samples in training: " + variations() +
               " with '+' between them, or none (the images')"),
  };
  return command;
}

void list() {
  outs() << "network         images         pixels  about\n";
  for (const models::Model &model : models::allModels())
    outs() << left_justify(model.name, 16) << left_justify(model.images, 15)
           << right_justify(std::to_string(model.side), 6) << "  "
           << model.about << "\n";
  outs() << "\nnetwork         vocabulary     tokens  about\n";
  for (const models::TextModel &model : models::allTextModels())
    outs() << left_justify(model.name, 16)
           << left_justify(std::to_string(model.sizes.vocabulary), 15)
           << right_justify(std::to_string(model.sizes.tokens), 6) << "  "
           << model.about << "\n";
}

Error print(StringRef name, const ZooOptions &options) {
  auto text = moduleOfModel(name, options);
  if (!text)
    return text.takeError();
  outs() << *text;
  return Error::success();
}

} // namespace

int zoo(ArrayRef<const char *> arguments) {
  ZooOptions options;
  auto words = describe(options).parse(arguments);
  if (!words)
    return report(words.takeError());
  if (!*words)
    return 0;
  std::string name = (**words)[0];
  if (name == "list") {
    list();
    return 0;
  }
  if (Error error = print(name, options))
    return report(std::move(error));
  return 0;
}

} // namespace mp::tool
