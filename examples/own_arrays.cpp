//===- own_arrays.cpp - trains on arrays of the program -------------------===//
//
// Reads Fashion-MNIST into memory, in a random order, and trains the network of
// examples/fashion-mnist on views of it: no batch is copied.
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

/// The images [n, 28, 28] and the labels [n] of a part of the data, shuffled.
struct Samples {
  std::vector<uint8_t> images, labels;

  Samples(const std::string &folder, const std::string &part) {
    auto read = [&](const char *what) {
      return check(mp::readIdx(folder + part + what + "-ubyte.gz"));
    };
    mp::Array image = read("-images-idx3"), label = read("-labels-idx1");
    std::vector<int64_t> order(label.type.shape[0]);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    for (int64_t sample : order) {
      auto pixels = image.bytes.slice(sample * kPixels, kPixels);
      images.insert(images.end(), pixels.begin(), pixels.end());
      labels.push_back(label.bytes[sample]);
    }
  }
  int64_t size() const { return labels.size(); }

  /// Views of `count` samples from `first` on, for a step or a prediction.
  std::array<NamedTensor, 2> slice(int64_t first, int64_t count) const {
    return {{{"image", {&images[first * kPixels], {count, 28, 28}}},
             {"label", {&labels[first], {count}}}}};
  }
};

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

  std::vector<int64_t> batches(stepsPerEpoch);
  std::iota(batches.begin(), batches.end(), 0);
  std::mt19937 random(1);
  auto began = Clock::now();
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    std::shuffle(batches.begin(), batches.end(), random);
    double loss = 0;
    for (int64_t batch : batches)
      loss += check(step.run(train.slice(batch * kBatch, kBatch))).loss;
    llvm::outs() << "epoch " << epoch << " loss " << loss / stepsPerEpoch
                 << "\n";
  }
  std::chrono::duration<double, std::micro> spent = Clock::now() - began;

  auto scored = check(step.predict(test.slice(0, test.size())));
  llvm::outs() << "test accuracy " << check(scored.number("accuracy"))
               << "\nskipped " << step.skipped() << ", microseconds a step "
               << spent.count() / step.steps() << "\n";
}
