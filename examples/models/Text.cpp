//===- Text.cpp - the networks of text ------------------------------------===//
#include "examples/models/Text.h"

namespace models {

std::span<const TextModel> allTextModels() {
  static const TextModel models[] = {
      {"char-gpt", "GPT of bytes", gpt2, {128, 256, 4, 128, 4}},
      {"gpt2", "GPT-2, 124 million", gpt2, {1024, 50257, 12, 768, 12}},
      {"gpt2-medium", "GPT-2, 355 million", gpt2, {1024, 50257, 24, 1024, 16}},
      {"gpt2-large", "GPT-2, 774 million", gpt2, {1024, 50257, 36, 1280, 20}},
      {"gpt2-xl", "GPT-2, 1,558 million", gpt2, {1024, 50257, 48, 1600, 25}},
      {"bert-tiny", "BERT, 4 million", bert, {128, 30522, 2, 128, 2, 2}},
      {"bert-base", "BERT, 109 million", bert, {128, 30522, 12, 768, 12, 2}},
      {"bert-large", "BERT, 335 million", bert, {128, 30522, 24, 1024, 16, 2}},
  };
  return models;
}

std::string build(Graph &net, const TextModel &model,
                  const TextOptions &options) {
  TextSizes sizes = model.sizes;
  auto set = [](int64_t &size, int64_t given) { size = given ? given : size; };
  set(sizes.tokens, options.tokens);
  set(sizes.vocabulary, options.vocabulary);
  set(sizes.layers, options.layers);
  sizes.classWeights = options.classWeights;
  auto weighted = static_cast<int64_t>(sizes.classWeights.size());
  if ((options.classes || options.texts || weighted) && !sizes.classes)
    return "it has no classes: it predicts the next token";
  set(sizes.classes, options.classes ? options.classes : weighted);
  if (weighted && weighted != sizes.classes)
    return std::to_string(weighted) + " weights of " +
           std::to_string(sizes.classes) + " classes";
  set(sizes.texts, options.texts);
  if (sizes.texts > 2)
    return "a sample is one text or two";
  if (sizes.vocabulary > (1 << 16))
    return "a vocabulary of " + std::to_string(sizes.vocabulary) +
           " tokens is more than 16 bits hold";
  // Each head has a multiple of 8 channels.
  sizes.channels =
      sizes.heads * Width{options.width}(sizes.channels / sizes.heads);
  model.network(net, sizes);
  return "";
}

} // namespace models
