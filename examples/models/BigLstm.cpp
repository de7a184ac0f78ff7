//===- BigLstm.cpp - Jozefowicz et al. (2016) -----------------------------===//
//
// The language model of two layers LSTM-8192-1024 (table 1): LSTMs whose states
// are projected, and a softmax over all words that is sampled in training.
//
//===----------------------------------------------------------------------===//
#include "dsl/Layers.h"
#include "dsl/Recurrent.h"
#include "dsl/Vocabulary.h"
#include "examples/models/Text.h"
#include <algorithm>
#include <numbers>

namespace models {
namespace {

/// Words that are drawn in each step: fewer of a small vocabulary.
int64_t drawnWords(const TextSizes &sizes) {
  constexpr int64_t published = 8192;
  return std::clamp<int64_t>(sizes.vocabulary / 8, 1, published);
}

/// Adagrad with the published arguments; only the gradients of the LSTMs are
/// clipped. The warm-up is ours: without it the loss of a reduced network grows
/// in the first steps, and how its runs go on differs by chance.
void train(Graph &net) {
  Minimize lstms{.params = {"rnn.*"},
                 .optimizer =
                     adagrad({.lr = 0.2, .initialAccumulatorValue = 1}),
                 .schedule = constantSchedule(300),
                 .clipNorm = 1,
                 .name = "adagrad"};
  Minimize others = lstms;
  others.params = {"*", "!rnn.*"};
  others.clipNorm = 0;
  net.train({.precision = "bf16", .groups = {lstms, others}});
}

} // namespace

void bigLstm(Graph &net, const TextSizes &sizes) {
  Tensor x = tokensInput(net, "x", sizes), y = tokensInput(net, "y", sizes);
  auto drop = [&](const Tensor &value) {
    return dropout(value, {.p = sizes.dropout});
  };
  Tensor words =
      net.parameter("encoder.weight", F32, {sizes.vocabulary, sizes.channels},
                    uniformFanIn(sizes.channels));
  Tensor hidden = lstm(drop(gather(words, x, 0)), {{.hidden = sizes.hidden,
                                                    .name = "rnn",
                                                    .layers = sizes.layers,
                                                    .dropout = sizes.dropout},
                                                   sizes.channels})
                      .output;
  Tensor rows = reshape(drop(hidden), {-1, sizes.channels}),
         label = reshape(y, {-1});
  Tensor sampled = sampledSoftmaxLoss(rows, label,
                                      {.classes = sizes.vocabulary,
                                       .samples = drawnWords(sizes),
                                       .name = "decoder"})
                       .loss;
  // The same name is the same variable. In training nothing reads these scores.
  Tensor logits = linear(rows, {.out = sizes.vocabulary, .name = "decoder"});
  Tensor loss = inTraining(sampled, crossEntropy(logits, label));
  net.output("loss", loss);
  net.output("bits", loss * std::numbers::log2e);
  net.output("logits",
             reshape(logits, {Batch, sizes.tokens, sizes.vocabulary}));
  train(net);
  readWindows(net, sizes);
}

} // namespace models
