//===- LstmLm.cpp - Zaremba et al. (2014) ---------------------------------===//
//
// The RNNModel of PyTorch's example word_language_model, with its names.
//
//===----------------------------------------------------------------------===//
#include "dsl/Recurrent.h"
#include "examples/models/Text.h"

namespace models {

void lstmLm(Graph &net, const TextSizes &sizes) {
  Tensor x = tokensInput(net, "x", sizes), y = tokensInput(net, "y", sizes);
  auto drop = [&](const Tensor &value) {
    return sizes.dropout ? dropout(value, {.p = sizes.dropout}) : value;
  };
  auto table = [&](const std::string &name) {
    return net.parameter(name, F32, {sizes.vocabulary, sizes.channels},
                         uniformInit(-0.1, 0.1));
  };
  Tensor words = table("encoder.weight");
  Tensor hidden =
      lstm(drop(gather(words, x, 0)), {{.hidden = sizes.channels,
                                        .name = "rnn",
                                        .layers = sizes.layers,
                                        .dropout = sizes.dropout,
                                        .keepsState = sizes.streams > 0}})
          .output;
  Tensor bias = net.parameter("decoder.bias", F32, {sizes.vocabulary}, zeros());
  predictTokens(net,
                linear(drop(hidden),
                       sizes.isTied ? words : table("decoder.weight"),
                       {.bias = bias}),
                y);
  net.train({.optimizer = adam({.lr = 2e-3}),
             .schedule = cosine({.to = 0.1, .warmup = 100}),
             .precision = "bf16",
             .clipNorm = 1});
  readWindows(net, sizes);
}

} // namespace models
