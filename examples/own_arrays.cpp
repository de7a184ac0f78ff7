//===- own_arrays.cpp - trains on arrays of the program -------------------===//
//
// Reads Fashion-MNIST into memory, draws batches in an order of its own, and
// trains the network of examples/fashion-mnist on them.
// own_arrays DATA_FOLDER [EPOCHS]
//
//===----------------------------------------------------------------------===//
#include "examples/fashion-mnist/mlp.h"
#include "mantissa.h"
#include "runtime/data/Idx.h"
#include <chrono>
#include <numeric>
#include <random>

using namespace mantissa;
using Clock = std::chrono::steady_clock;
static constexpr int64_t kBatch = 128, kPixels = 28 * 28;
static llvm::ExitOnError check("own_arrays: ");

/// The images [n, 28, 28] and the labels [n] of a part of the data.
struct Samples {
  mp::Array images, labels;
  Samples(const std::string &folder, const std::string &part)
      : images(check(mp::readIdx(folder + part + "-images-idx3-ubyte.gz"))),
        labels(check(mp::readIdx(folder + part + "-labels-idx1-ubyte.gz"))) {}
  int64_t size() const { return labels.type.shape[0]; }
};

static TensorRef view(const mp::Array &array) {
  return {array.type.element, array.bytes.data(), array.type.shape};
}

int main(int argc, char **argv) {
  if (argc < 2)
    check(llvm::createStringError("usage: own_arrays DATA_FOLDER [EPOCHS]"));
  Samples train(argv[1], "/train"), test(argv[1], "/t10k");
  int epochs = argc > 2 ? std::atoi(argv[2]) : 5;
  int64_t stepsPerEpoch = train.size() / kBatch;

  Graph net("fashion_mnist_mlp");
  buildFashionMnist(net);
  Module module = check(Module::fromGraph(net));
  Step step = check(module.compileStep({.batch = kBatch,
                                        .totalSteps = epochs * stepsPerEpoch,
                                        .predictions = {"accuracy"},
                                        .seed = 1}));

  std::vector<uint8_t> image(kBatch * kPixels), label(kBatch);
  std::vector<int64_t> order(train.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  auto began = Clock::now();
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double loss = 0;
    for (int64_t i = 0; i < stepsPerEpoch; ++i) {
      for (int64_t row = 0; row < kBatch; ++row) {
        int64_t sample = order[i * kBatch + row];
        std::copy_n(train.images.bytes.data() + sample * kPixels, kPixels,
                    image.data() + row * kPixels);
        label[row] = train.labels.bytes[sample];
      }
      loss += check(step.run({{"image", {image, {kBatch, 28, 28}}},
                              {"label", label}}))
                  .loss;
    }
    llvm::outs() << "epoch " << epoch << " loss " << loss / stepsPerEpoch
                 << "\n";
  }
  std::chrono::duration<double, std::micro> spent = Clock::now() - began;

  auto scored = check(step.predict(
      {{"image", view(test.images)}, {"label", view(test.labels)}}));
  llvm::outs() << "test accuracy " << check(scored.number("accuracy"))
               << "\nskipped " << step.skipped() << ", microseconds a step "
               << spent.count() / step.steps() << "\n";
}
