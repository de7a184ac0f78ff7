//===- Bert.cpp - Devlin et al. (2018) ------------------------------------===//
//
// Hugging Face's BertForSequenceClassification and BertForMaskedLM, for one
// text a sample, whose tokens have the type 0, or for two. Tokens after a
// sample's length are not looked at: the length is what an attention mask says
// of texts that are filled at their ends.
//
//===----------------------------------------------------------------------===//
#include "examples/models/Text.h"

namespace models {
namespace {

constexpr double kEps = 1e-12;

Tensor dense(Graph &net, const Tensor &x, int64_t out,
             const std::string &name) {
  Tensor weight = net.parameter(name + ".weight", F32, {out, x.size(-1)},
                                normalInit(0, 0.02));
  return linear(x, weight,
                {.bias = net.parameter(name + ".bias", F32, {out}, zeros())});
}

Tensor normalizeLast(const Tensor &x, const std::string &name) {
  return layerNorm(x, {.name = name, .eps = kEps});
}

/// A layer's result with its input: name.dense and name.LayerNorm.
Tensor addResult(Graph &net, const Tensor &y, const Tensor &x,
                 const std::string &name, const TextSizes &sizes) {
  Tensor result = drop(dense(net, y, x.size(-1), name + ".dense"), sizes);
  return normalizeLast(result + x, name + ".LayerNorm");
}

Tensor attention(Graph &net, const Tensor &x, const Tensor &lengths,
                 const TextSizes &sizes) {
  auto scope = net.scope("attention");
  auto heads = [&](const std::string &name) {
    Tensor projected = dense(net, x, sizes.channels, "self." + name);
    return reshape(projected, {Batch, sizes.tokens, sizes.heads,
                               sizes.channels / sizes.heads});
  };
  ScaledDotProductAttentionOptions looks{.lengths = lengths};
  dropWeights(net, looks, sizes);
  Tensor mixed = scaledDotProductAttention(heads("query"), heads("key"),
                                           heads("value"), looks);
  return addResult(net, reshape(mixed, x.shape()), x, "output", sizes);
}

Tensor embed(Graph &net, const TextInputs &inputs, const TextSizes &sizes) {
  auto scope = net.scope("embeddings");
  auto table = [&](const std::string &name, int64_t rows) {
    return net.parameter(name + "_embeddings.weight", F32,
                         {rows, sizes.channels}, normalInit(0, 0.02));
  };
  auto rows = [&](const Tensor &table, int64_t count) {
    return slice(table, {0, 0}, {count, sizes.channels});
  };
  constexpr int64_t positions = 512, kTypes = 2;
  Tensor x = gather(table("word", sizes.vocabulary), inputs.tokens, 0);
  Tensor typeTable = table("token_type", kTypes);
  x = x +
      (inputs.types ? gather(typeTable, inputs.types, 0) : rows(typeTable, 1));
  x = x +
      rows(table("position", std::max(positions, sizes.tokens)), sizes.tokens);
  return drop(normalizeLast(x, "LayerNorm"), sizes);
}

/// [batch, tokens, channels].
Tensor encode(Graph &net, const TextInputs &inputs, const TextSizes &sizes) {
  auto scope = net.scope("bert");
  Tensor x = embed(net, inputs, sizes);
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    auto scope = net.scope(dotted("encoder.layer", layer));
    x = attention(net, x, inputs.lengths, sizes);
    Tensor y = gelu(dense(net, x, 4 * sizes.channels, "intermediate.dense"));
    x = addResult(net, y, x, "output", sizes);
  }
  return x;
}

void train(Graph &net, double rate, const std::string &labels,
           const TextInputs &inputs) {
  trainWithAdamw(net,
                 {.params = {"*.weight", "!*LayerNorm*"},
                  .others = {"*.bias", "*LayerNorm.weight"}},
                 {.lr = rate, .weightDecay = 0.01},
                 linear(LinearScheduleOptions{.to = 0, .warmup = 100}));
  readTexts(net, labels, bool(inputs.types));
}

} // namespace

TextInputs textInputs(Graph &net, const TextSizes &sizes) {
  TextInputs inputs{.tokens = tokensInput(net, "tokens", sizes),
                    .lengths = net.input("lengths", I32, {Batch}),
                    .label = net.input("label", I32, {Batch})};
  if (sizes.texts == 2)
    inputs.types = net.input("types", U8, {Batch, sizes.tokens});
  return inputs;
}

Tensor bertLogits(Graph &net, const TextInputs &inputs,
                  const TextSizes &sizes) {
  Tensor first =
      flatten(slice(encode(net, inputs, sizes), {0, 0, 0}, {-1, 1, -1}));
  Tensor pooled = tanh(dense(net, first, sizes.channels, "bert.pooler.dense"));
  return dense(net, drop(pooled, sizes), sizes.classes, "classifier");
}

void bert(Graph &net, const TextSizes &sizes) {
  TextInputs inputs = textInputs(net, sizes);
  Tensor logits = bertLogits(net, inputs, sizes);
  CrossEntropyOptions weights;
  if (!sizes.classWeights.empty())
    weights.weight = constant(net, sizes.classWeights, {sizes.classes});
  net.output("loss", crossEntropy(logits, inputs.label, weights));
  net.output("accuracy", accuracy(logits, inputs.label));
  net.output("logits", logits);
  train(net, 5e-5, "label", inputs);
}

void bertMaskedLm(Graph &net, const TextSizes &sizes) {
  TextInputs inputs{.tokens = tokensInput(net, "tokens", sizes),
                    .lengths = net.input("lengths", I32, {Batch})};
  Tensor labels = net.input("labels", I32, {Batch, sizes.tokens});
  Tensor x = encode(net, inputs, sizes);
  // The same name is the same variable: the table of tokens.
  Tensor table =
      tokenTable(net, "bert.embeddings.word_embeddings.weight", sizes);
  auto scope = net.scope("cls.predictions");
  x = gelu(dense(net, x, sizes.channels, "transform.dense"));
  x = normalizeLast(x, "transform.LayerNorm");
  Tensor bias = net.parameter("bias", F32, {sizes.vocabulary}, zeros());
  predictLabelled(net, linear(x, table, {.bias = bias}), labels);
  train(net, 1e-4, "labels", inputs);
}

} // namespace models
