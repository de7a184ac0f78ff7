//===- Seq2Seq.cpp - Luong et al. (2015) ----------------------------------===//
//
// Writes a text from another one with LSTMs: the global attention of Luong et
// al. (2015) with the score "dot", without input feeding. The decoder is given
// the true words before, in training and in evaluation, so that all its time
// steps attend at once.
//
// Tokens after a text's length neither change the states of the encoder nor are
// attended to.
//
//===----------------------------------------------------------------------===//
#include "dsl/Layers.h"
#include "dsl/Recurrent.h"
#include "examples/models/Text.h"

namespace models {
namespace {

/// A stack of LSTMs over the embedded tokens, whose variables begin with
/// `name`.
RecurrentResult stack(Graph &net, const std::string &name, const Tensor &tokens,
                      const Tensor &lengths, const RecurrentState &first,
                      const TextSizes &sizes) {
  auto scope = net.scope(name);
  Tensor table =
      net.parameter("embedding.weight", F32, {sizes.vocabulary, sizes.channels},
                    uniformInit(-0.1, 0.1));
  Tensor embedded = dropout(gather(table, tokens, 0), {.p = sizes.dropout});
  return lstm(embedded,
              {{.hidden = sizes.channels,
                .name = "rnn",
                .layers = sizes.layers,
                .dropout = sizes.dropout,
                .lengths = lengths}},
              first);
}

/// What each query finds in the keys [batch, tokens, channels]: the mean of the
/// keys, weighted by the softmax of their products with it.
Tensor attend(const Tensor &queries, const Tensor &keys,
              const Tensor &lengths) {
  Dims oneHead{Batch, keys.size(1), 1, keys.size(2)};
  Tensor heads = reshape(keys, oneHead);
  return reshape(scaledDotProductAttention(reshape(queries, oneHead), heads,
                                           heads,
                                           {.lengths = lengths, .scale = 1}),
                 queries.shape());
}

} // namespace

void seq2seq(Graph &net, const TextSizes &sizes) {
  TextPair texts = textPair(net, sizes);
  RecurrentResult read =
      stack(net, "encoder", texts.tokens, texts.lengths, {}, sizes);
  RecurrentResult written =
      stack(net, "decoder", shifted(texts.labels), {}, read.state, sizes);
  Tensor context = attend(written.output, read.output, texts.lengths);
  Tensor joined = concat({context, written.output}, 2);
  Tensor hidden = tanh(
      linear(joined, {.out = sizes.channels, .name = "concat", .bias = false}));
  Tensor logits = linear(dropout(hidden, {.p = sizes.dropout}),
                         {.out = sizes.vocabulary, .name = "out"});
  predictLabelled(net, logits, texts.labels, /*first=*/1);
  net.train({.optimizer = adam({.lr = 2e-3}),
             .schedule = cosine({.to = 0.1, .warmup = 100}),
             .precision = "bf16",
             .clipNorm = 5});
  readTexts(net, "labels");
}

} // namespace models
