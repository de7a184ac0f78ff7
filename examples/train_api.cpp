//===- train_api.cpp - training through the C++ API -----------------------===//
//
// Trains a module on a folder of data through the C++ API: no header of MLIR.
// train_api FILE.mlir DATA_FOLDER
//
//===----------------------------------------------------------------------===//
#include "codegen/Compile.h"
#include "runtime/train/Trainer.h"

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: train_api FILE.mlir DATA_FOLDER\n";
    return 2;
  }
  llvm::ExitOnError check("train_api: ");

  mp::TrainOptions options;
  options.module = argv[1];
  options.data = argv[2];
  options.precision = "bf16";
  options.batch = 128;
  options.seed = 1;
  auto trainer = check(mp::Trainer::create(options, mp::compile));

  // Step by step, with the numbers of each step at hand ...
  for (int64_t step = 0; step < trainer->stepsPerEpoch(); ++step) {
    mp::StepMetrics metrics = check(trainer->step());
    if (step % 100 == 0)
      llvm::outs() << "step " << metrics.step << " loss " << metrics.loss
                   << "\n";
  }
  // ... then score it on the test data, and keep it.
  for (auto &[name, value] : check(trainer->evaluate()))
    llvm::outs() << "test " << name << " " << value << "\n";
  check(trainer->save("train_api.safetensors"));
}
