//===- SpeechCtc.cpp - Graves et al. (2013) -------------------------------===//
//
// Recognizes speech with LSTMs that read it in both directions, and the loss of
// connectionist temporal classification: the network CTC-2l-250h (table 1),
// without peepholes. A frame has the 123 numbers of the paper's.
//
//===----------------------------------------------------------------------===//
#include "dsl/Ctc.h"
#include "dsl/Layers.h"
#include "dsl/Recurrent.h"
#include "examples/models/Text.h"
#include <algorithm>

namespace models {

void speechCtc(Graph &net, const TextSizes &sizes) {
  constexpr int64_t features = 123, framesOfLabel = 8;
  Tensor frames = net.input("frames", F32, {Batch, sizes.tokens, features}),
         lengths = net.input("lengths", I32, {Batch}),
         labels = net.input(
             "labels", I32,
             {Batch, std::max<int64_t>(1, sizes.tokens / framesOfLabel)});
  Tensor hidden = lstm(frames, {{.hidden = sizes.channels,
                                 .name = "rnn",
                                 .layers = sizes.layers,
                                 .bidirectional = true,
                                 .lengths = lengths}})
                      .output;
  Tensor logits = linear(hidden, {.out = sizes.vocabulary, .name = "out"});
  // The blank is 0, and so are places after a sample's last label.
  CtcLoss options;
  options.steps = lengths;
  options.labels = cast(sum(cast(labels > 0, F32), {1}), I32);
  net.output("loss", ctcLoss(logits, labels, options));
  net.output("error_rate", ctcErrorRate(logits, labels, options));
  net.output("logits", logits);
  net.train({.optimizer = adam({.lr = 1e-3}),
             .schedule = cosine({.to = 0.1, .warmup = 100}),
             .precision = "bf16",
             .clipNorm = 1});
  readTexts(net, "labels", /*hasTypes=*/false, "frames");
}

} // namespace models
