//===- train.cpp - trains a module on a folder of data --------------------===//
//
// train FILE.mlir DATA_FOLDER STEPS
//
//===----------------------------------------------------------------------===//
#include "codegen/Compile.h"
#include "runtime/train/Trainer.h"
#include <iostream>
#include <stdexcept>

// A project of one's own may use exceptions; Mantissa throws none.
template <typename T> static T valueOf(llvm::Expected<T> expected) {
  if (!expected)
    throw std::runtime_error(llvm::toString(expected.takeError()));
  return std::move(*expected);
}

static void train(const char *module, const char *data, int steps) {
  mp::TrainOptions options;
  options.module = module;
  options.data = data;
  options.precision = "bf16";
  options.batch = 128;
  options.seed = 1;
  auto trainer = valueOf(mp::Trainer::create(options, mp::compile));
  for (int step = 0; step < steps; ++step) {
    mp::StepMetrics metrics = valueOf(trainer->step());
    std::cout << "step " << metrics.step << " loss " << metrics.loss << "\n";
  }
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::cerr << "usage: train FILE.mlir DATA_FOLDER STEPS\n";
    return 2;
  }
  try {
    train(argv[1], argv[2], std::stoi(argv[3]));
  } catch (const std::exception &error) {
    std::cerr << "train: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
