//===- Text.cpp - the networks of text, and what they are made of ---------===//
#include "examples/models/Text.h"
#include <numbers>

namespace models {

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

/// The sizes with the dropout of Hugging Face's configurations.
static TextSizes dropping(TextSizes sizes) {
  sizes.dropout = 0.1;
  return sizes;
}

std::span<const TextModel> allTextModels() {
  static const TextModel models[] = {
      {"char-gpt", "GPT of bytes", gpt2, {128, 256, 4, 128, 4}},
      {"gpt2", "GPT-2, 124 million", gpt2,
       dropping({1024, 50257, 12, 768, 12})},
      {"gpt2-medium", "GPT-2, 355 million", gpt2,
       dropping({1024, 50257, 24, 1024, 16})},
      {"gpt2-large", "GPT-2, 774 million", gpt2,
       dropping({1024, 50257, 36, 1280, 20})},
      {"gpt2-xl", "GPT-2, 1,558 million", gpt2,
       dropping({1024, 50257, 48, 1600, 25})},
      {"llama-tiny",
       "Llama of bytes",
       llama,
       {.tokens = 128,
        .vocabulary = 256,
        .layers = 4,
        .channels = 128,
        .heads = 4,
        .hidden = 352,
        .keyHeads = 2}},
      {"tinyllama-1.1b",
       "TinyLlama, 1,100 million",
       llama,
       {.tokens = 2048,
        .vocabulary = 32000,
        .layers = 22,
        .channels = 2048,
        .heads = 32,
        .hidden = 5632,
        .keyHeads = 4}},
      {"llama-3.2-1b",
       "Llama 3.2, 1,236 million",
       llama,
       {.tokens = 2048,
        .vocabulary = 128256,
        .layers = 16,
        .channels = 2048,
        .heads = 32,
        .hidden = 8192,
        .keyHeads = 8,
        .base = 5e5,
        .scaling = RotaryScaling{.factor = 32},
        .isTied = true}},
      {"char-rnn", "LSTM of bytes", lstmLm, {64, 256, 1, 256, 1}},
      {"lstm-lm",
       "LSTM of words, 13 million",
       lstmLm,
       {.tokens = 35,
        .vocabulary = 10000,
        .layers = 2,
        .channels = 650,
        .heads = 1,
        .isTied = true,
        .dropout = 0.5}},
      {"biglstm",
       "LSTM-8192-1024, 1,777 million",
       bigLstm,
       {.tokens = 20,
        .vocabulary = 793471,
        .layers = 2,
        .channels = 1024,
        .heads = 1,
        .hidden = 8192,
        .dropout = 0.1}},
      {"bert-tiny", "BERT, 4 million", bert,
       dropping({128, 30522, 2, 128, 2, 2})},
      {"bert-base", "BERT, 109 million", bert,
       dropping({128, 30522, 12, 768, 12, 2})},
      {"bert-large", "BERT, 335 million", bert,
       dropping({128, 30522, 24, 1024, 16, 2})},
      {"bert-mlm-tiny", "BERT of masked tokens", bertMaskedLm,
       dropping({128, 30522, 2, 128, 2})},
      {"bert-mlm-base", "the same, 110 million", bertMaskedLm,
       dropping({128, 30522, 12, 768, 12})},
      {"bert-mlm-large", "the same, 335 million", bertMaskedLm,
       dropping({128, 30522, 24, 1024, 16})},
      {"t5-small", "T5, 61 million", t5,
       dropping({.tokens = 512,
                 .vocabulary = 32128,
                 .layers = 6,
                 .channels = 512,
                 .heads = 8,
                 .hidden = 2048})},
      {"t5-base", "T5, 223 million", t5,
       dropping({.tokens = 512,
                 .vocabulary = 32128,
                 .layers = 12,
                 .channels = 768,
                 .heads = 12,
                 .hidden = 3072})},
      {"seq2seq",
       "LSTMs with attention, 216 million",
       seq2seq,
       {.tokens = 50,
        .vocabulary = 50000,
        .layers = 4,
        .channels = 1000,
        .heads = 1,
        .dropout = 0.2}},
      {"speech-ctc",
       "LSTMs of speech, 2 million",
       speechCtc,
       {128, 62, 2, 250, 1}},
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
    return "it has no classes: it predicts tokens";
  set(sizes.classes, options.classes ? options.classes : weighted);
  if (weighted && weighted != sizes.classes)
    return std::to_string(weighted) + " weights of " +
           std::to_string(sizes.classes) + " classes";
  set(sizes.texts, options.texts);
  if (options.dropout && (model.network == llama || model.network == speechCtc))
    return "it has no dropout";
  sizes.dropout = options.dropout.value_or(sizes.dropout);
  if (options.isPacked && model.network != gpt2)
    return "it does not take packed texts, as gpt2 and char-gpt do";
  sizes.isPacked = options.isPacked;
  if (options.streams && model.network != lstmLm)
    return "it keeps no states from batch to batch, as char-rnn and lstm-lm do";
  sizes.streams = options.streams;
  if (sizes.texts > 2)
    return "a sample is one text or two";
  // Each head has a multiple of 8 channels.
  Width width{options.width};
  sizes.channels = sizes.heads * width(sizes.channels / sizes.heads);
  if (sizes.hidden)
    sizes.hidden = width(sizes.hidden);
  model.network(net, sizes);
  return "";
}

//===----------------------------------------------------------------------===//
// What the networks are made of
//===----------------------------------------------------------------------===//

Tensor tokensInput(Graph &net, const std::string &name,
                   const TextSizes &sizes) {
  bool isWide = sizes.vocabulary > 1 << 16;
  int64_t rows = sizes.streams ? sizes.streams : Batch;
  return net.input(name, isWide ? U32 : U16, {rows, sizes.tokens});
}

TextPair textPair(Graph &net, const TextSizes &sizes) {
  return {.tokens = tokensInput(net, "tokens", sizes),
          .lengths = net.input("lengths", I32, {Batch}),
          .labels = net.input("labels", I32, {Batch, sizes.tokens})};
}

PackedTexts packedTexts(Graph &net, const TextSizes &sizes) {
  auto places = [&](const std::string &name) {
    return net.input(name, U16, {Batch, sizes.tokens});
  };
  PackedTexts texts{.tokens = tokensInput(net, "tokens", sizes),
                    .segments = places("segments"),
                    .positions = places("positions")};
  Tensor segments = cast(texts.segments, I32);
  int64_t last = sizes.tokens - 1;
  auto next = [&](const Tensor &of) {
    return pad(slice(of, {0, 1}, {-1, last}), {0, 0}, {0, 1});
  };
  Tensor goesOn = select(segments > 0, segments, -1);
  texts.labels = select(compare(next(segments), goesOn, Comparison::eq),
                        next(cast(texts.tokens, I32)), -100);
  texts.isSeen =
      compare(reshape(segments, {Batch, 1, sizes.tokens, 1}),
              reshape(segments, {Batch, 1, 1, sizes.tokens}), Comparison::eq);
  return texts;
}

Tensor drop(const Tensor &x, const TextSizes &sizes) {
  return sizes.dropout ? dropout(x, {.p = sizes.dropout}) : x;
}

void dropWeights(Graph &net, ScaledDotProductAttentionOptions &attention,
                 const TextSizes &sizes) {
  if (!sizes.dropout)
    return;
  attention.dropoutKey = randomKey(net);
  attention.dropoutP = sizes.dropout;
}

Tensor shifted(const Tensor &labels) {
  Tensor before = slice(maximum(labels, 0), {0, 0}, {-1, labels.size(1) - 1});
  return pad(before, {0, 1}, {0, 0});
}

Tensor tokenTable(Graph &net, const std::string &name, const TextSizes &sizes,
                  double deviation) {
  return net.parameter(name, F32, {sizes.vocabulary, sizes.channels},
                       normalInit(0, deviation));
}

Tensor project(Graph &net, const Tensor &x, int64_t out,
               const std::string &name, double deviation) {
  return linear(x, net.parameter(name + ".weight", F32, {out, x.size(-1)},
                                 normalInit(0, deviation)));
}

void predictTokens(Graph &net, const Tensor &logits, const Tensor &labels) {
  Tensor loss = crossEntropy(logits, labels, {.dim = 2});
  net.output("loss", loss);
  net.output("bits", loss * std::numbers::log2e);
  net.output("accuracy", accuracy(logits, labels, {.dim = 2}));
  net.output("logits", logits);
}

void predictLabelled(Graph &net, const Tensor &logits, const Tensor &labels,
                     int64_t first) {
  CrossEntropyOptions options{.dim = 2};
  // A weight of 0 leaves a label out, and the range of labels is checked still.
  if (first > 0)
    options.weight = cast(iota(net, {I32, {logits.size(2)}}, 0) >= first, F32);
  Tensor isAsked = labels >= first;
  Tensor share = accuracy(logits, select(isAsked, labels, -100), {.dim = 2});
  net.output("loss", crossEntropy(logits, labels, options));
  net.output("accuracy", share / mean(cast(isAsked, F32)));
  net.output("logits", logits);
}

void trainWithAdamw(Graph &net, const Decay &decay, const AdamwOptions &adamw,
                    const Schedule &schedule) {
  AdamwOptions still = adamw;
  still.weightDecay = 0;
  auto group = [&](const std::vector<std::string> &params,
                   const AdamwOptions &options) {
    return Minimize{.params = params,
                    .optimizer = mantissa::adamw(options),
                    .schedule = schedule,
                    .name = "adamw"};
  };
  net.train(
      {.precision = "bf16",
       .clipNorm = 1,
       .groups = {group(decay.params, adamw), group(decay.others, still)}});
}

void readWindows(Graph &net, const TextSizes &sizes) {
  int64_t streams = std::max<int64_t>(1, sizes.streams);
  auto columns = [&](const std::string &file, int64_t stride) {
    auto column = [&](const std::string &input, int64_t offset) {
      return Column{.input = input,
                    .pattern = file,
                    .format = "tokens",
                    .shape = {sizes.tokens},
                    .window = {sizes.tokens + 1, stride, offset, streams}};
    };
    return std::vector<Column>{column("x", 0), column("y", 1)};
  };
  net.data("train", columns("train.bin", sizes.streams ? sizes.tokens : 1));
  net.data("test", columns("val.bin", sizes.tokens));
}

void readPacked(Graph &net) {
  for (std::string source : {"train", "test"})
    net.data(source, {{"tokens", source + ".npy", "npy"},
                      {"segments", source + "-segments.npy", "npy"},
                      {"positions", source + "-positions.npy", "npy"}});
}

void readTexts(Graph &net, const std::string &labels, bool hasTypes,
               const std::string &samples) {
  for (std::string source : {"train", "test"}) {
    std::vector<Column> columns = {{samples, source + ".npy", "npy"},
                                   {"lengths", source + "-lengths.npy", "npy"},
                                   {labels, source + "-labels.npy", "npy"}};
    if (hasTypes)
      columns.push_back({"types", source + "-types.npy", "npy"});
    net.data(source, columns);
  }
}

} // namespace models
