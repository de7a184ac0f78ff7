// Steps on the caller's tensors: mantissa.h.
#include "mantissa.h"
#include "TestFiles.h"
#include "gtest/gtest.h"

using namespace mantissa;

TEST(Smoke, Trains) {
  llvm::ExitOnError check;
  auto module = check(Module::read(MP_SOURCE_DIR "/examples/fashion-mnist/mlp.mlir"));
  auto step = check(module.compileStep({.batch = 16, .totalSteps = 100, .outputs = {"grad:fc1.weight", "value:%h1"}, .predictions = {"value:%logits"}}));
  std::vector<uint8_t> image(16 * 28 * 28, 7), label(16, 3);
  for (int i = 0; i < 5; ++i) {
    if (i == 3) check(step.scaleLearningRate(0.5));
    auto r = check(step.run({{"image", {image, {16, 28, 28}}}, {"label", label}}));
    llvm::errs() << r.loss << " " << r.learningRate << " " << r.skipped << "\n";
    for (size_t k = 0; k < r.size(); ++k) llvm::errs() << r.name(k) << ":" << r[k].type() << "\n";
  }
  auto p = check(step.predict({{"image", {image, {16, 28, 28}}}}));
  for (size_t k = 0; k < p.size(); ++k) llvm::errs() << p.name(k) << ":" << p[k].type() << "\n";
}
