//===- attention-dropout-test.cpp - attention that drops, in training -----===//
//
// A dropout between the softmax and the product is made a part of attention
// that is recognised. Steps have to be those of the ops that it was spelled of,
// which draw the same bits, in every micro-batch.
//
//===----------------------------------------------------------------------===//
#include "OnBothTargets.h"
#include "TrainingSession.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mp;
using namespace mp::test;

namespace {

constexpr int64_t kBatch = 4, kInput = kBatch * 12 * 8;

/// A recipe of two micro-batches; `attribute` is that of the softmax.
std::string recipe(const char *attribute) {
  constexpr const char *text = R"(
mp.variable @wq : tensor<8x8xf32> = #mp.init<kaiming_uniform>
mp.variable @wk : tensor<8x8xf32> = #mp.init<kaiming_uniform>
func.func @loss(%x: tensor<?x12x8xf32> {{mp.name = "x"}) ->
    (tensor<f32> {{mp.name = "loss"}) {{
  %wq = mp.read @wq : tensor<8x8xf32>
  %wk = mp.read @wk : tensor<8x8xf32>
  %q = mp.linear %x, %wq : tensor<?x12x8xf32>, tensor<8x8xf32>
  %k = mp.linear %x, %wk : tensor<?x12x8xf32>, tensor<8x8xf32>
  %s = mp.matmul %q, %k transpose_b : tensor<?x12x8xf32>, tensor<?x12x8xf32>
  %p = mp.softmax %s dim(2) {0} : tensor<?x12x12xf32>
  %d = mp.dropout %p {{p = 0.3} : tensor<?x12x12xf32>
  %y = mp.matmul %d, %x : tensor<?x12x12xf32>, tensor<?x12x8xf32>
  %f = mp.mul %y, %y : tensor<?x12x8xf32>, tensor<?x12x8xf32>
  %l = mp.mean %f dims[0, 1, 2] : tensor<?x12x8xf32>
  return %l : tensor<f32>
}
mp.train @step of @loss accumulate(2) {{
  mp.minimize result(0) {{params = ["wq", "wk"], optimizer = #mp.sgd<lr = 0.5>}
})";
  return llvm::formatv(text, attribute);
}

MP_ON_BOTH_TARGETS(AttentionDropout);

TEST_P(AttentionDropout, StepsAreThoseOfTheOpsThatItIsSpelledOf) {
  // An op that says how it is to be cast stays as it is.
  TrainingSession one(recipe(""), kBatch, GetParam()),
      spelled(recipe("{mp.autocast = \"f32\"}"), kBatch, GetParam());
  for (const char *name : {"wq", "wk"})
    spelled.write(name, one.read(name));
  for (int step = 0; step < 5; ++step) {
    std::vector<Numbers> inputs(2, Numbers(kInput));
    for (int64_t i = 0; i < kInput; ++i)
      for (int64_t batch : {0, 1})
        inputs[batch][i] = (i * 37 + batch * 11 + step) % 64 / 32.0 - 1;
    double ours = one.runWindow(inputs)["loss"],
           theirs = spelled.runWindow(inputs)["loss"];
    EXPECT_NEAR(ours, theirs, 1e-6 * theirs) << "step " << step;
  }
  for (const char *name : {"wq", "wk"}) {
    Numbers ours = one.read(name), theirs = spelled.read(name);
    for (size_t i = 0; i < ours.size(); ++i)
      EXPECT_NEAR(ours[i], theirs[i], 1e-6) << name << " " << i;
  }
}

} // namespace
