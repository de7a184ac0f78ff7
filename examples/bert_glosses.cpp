//===- bert_glosses.cpp - BERT learns parts of speech ---------------------===//
//
// The training loop that is usual for BERT: token types and an attention mask,
// a loss with weights of classes, micro-batches whose gradients are unscaled
// and then clipped, AdamW without decay of biases and norms, warm-up and linear
// decay counted in applied steps, accuracy and macro F1 on the whole test set,
// and the best state is kept. docs/glosses.md makes the folder.
// bert_glosses FOLDER [PRECISION [STEPS]]
//
//===----------------------------------------------------------------------===//
#include "codegen/Compile.h"
#include "examples/models/Text.h"
#include "runtime/data/Npy.h"
#include "runtime/train/Trainer.h"
#include "support/Error.h"
#include "llvm/Support/Format.h"
#include <fstream>

using namespace mantissa;
static llvm::ExitOnError check("bert_glosses: ");

static void build(Graph &net, const std::vector<float> &classWeights) {
  models::TextSizes sizes{.tokens = 32,
                          .vocabulary = 8000,
                          .layers = 2,
                          .channels = 128,
                          .heads = 2,
                          .texts = 2,
                          .dropout = 0.1};
  sizes.classes = classWeights.size();
  models::TextInputs inputs = models::textInputs(net, sizes);
  Tensor logits = models::bertLogits(net, inputs, sizes);
  Tensor weight = constant(net, {classWeights.begin(), classWeights.end()},
                           {sizes.classes});
  net.output("loss", crossEntropy(logits, inputs.label, {.weight = weight}));
  net.output("accuracy", accuracy(logits, inputs.label));
  net.output("logits", logits);
  auto group = [](std::vector<std::string> params, double decay) {
    return Minimize{.params = std::move(params),
                    .optimizer = adamw({.lr = 1e-3, .weightDecay = decay}),
                    .schedule =
                        linear(LinearScheduleOptions{.to = 0, .warmup = 100}),
                    .name = "adamw"};
  };
  net.train({.accumulate = 2,
             .clipNorm = 1,
             .groups = {group({"*.weight", "!*LayerNorm*"}, 0.01),
                        group({"*.bias", "*LayerNorm.weight"}, 0)}});
  for (std::string side : {"train", "test"})
    net.data(side, {{"tokens", side + ".npy", "npy"},
                    {"lengths", side + "-lengths.npy", "npy"},
                    {"types", side + "-types.npy", "npy"},
                    {"label", side + "-labels.npy", "npy"}});
}

int main(int argc, char **argv) {
  if (argc < 2)
    check(mp::makeError("usage: bert_glosses FOLDER [PRECISION [STEPS]]"));
  std::string folder = argv[1];
  mp::Array weights = check(mp::readNpy(folder + "/weights.npy"));
  Graph net("bert_glosses");
  build(net, mp::TensorView(weights.type.element, weights.bytes).floats());
  std::ofstream(folder + "/bert.mlir") << check(net.text());

  mp::TrainOptions options;
  options.module = folder + "/bert.mlir";
  options.data = folder;
  options.precision = argc > 2 ? argv[2] : "fp16";
  options.batch = 32; // a micro-batch
  options.maxSteps = argc > 3 ? std::atoll(argv[3]) : 0;
  auto trainer = check(mp::Trainer::create(options, mp::compile));
  int64_t steps = trainer->totalSteps();
  if (options.maxSteps)
    steps = std::min(steps, options.maxSteps);
  double best = 0;
  while (trainer->stepsDone() < steps) {
    mp::StepMetrics metrics = check(trainer->step());
    if (metrics.step % 200 && metrics.step != steps)
      continue;
    llvm::outs() << "step " << metrics.step
                 << llvm::format(" loss %.4f", metrics.loss);
    double macroF1 = 0;
    for (auto &[name, value] : check(trainer->evaluate())) {
      llvm::outs() << "  test " << name << llvm::format(" %.4f", value);
      if (name == mp::kMacroF1Score)
        macroF1 = value;
    }
    llvm::outs() << "\n";
    if (macroF1 > best) {
      best = macroF1;
      check(trainer->save(folder + "/best.safetensors"));
    }
  }
  llvm::outs() << llvm::format("best macro F1 %.4f\n", best);
}
