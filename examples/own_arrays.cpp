//===- own_arrays.cpp - trains on arrays of the program -------------------===//
//
// Reads Fashion-MNIST into memory, draws batches from it in an order of its
// own, and trains the network of examples/fashion-mnist on them.
// own_arrays DATA_FOLDER [EPOCHS]
//
//===----------------------------------------------------------------------===//
#include "examples/fashion-mnist/mlp.h"
#include "mantissa-exceptions.h"
#include "runtime/data/Idx.h"
#include <chrono>
#include <iostream>
#include <numeric>
#include <random>

using namespace mantissa;
static constexpr int64_t kBatch = 128, kPixels = 28 * 28;

static void train(const std::string &folder, int epochs) {
  auto file = [&](const char *name) { return check(mp::readIdx(folder + "/" + name + ".gz")); };
  auto images = file("train-images-idx3-ubyte"), labels = file("train-labels-idx1-ubyte"), testImages = file("t10k-images-idx3-ubyte"), testLabels = file("t10k-labels-idx1-ubyte");
}
