//===- step.cpp - a step of a network with an op of a plugin --------------===//
#include "mantissa.h"
#include "llvm/Support/raw_ostream.h"

using namespace mantissa;

/// Prints the losses of two steps on one batch.
static llvm::Error run(const char *path, const char *plugin) {
  auto module = Module::read(path, {std::string(plugin)});
  if (!module)
    return module.takeError();
  auto step = module->compileStep({.batch = 4, .device = Device{}});
  if (!step)
    return step.takeError();
  std::vector<float> x(4 * 8, 0.5f);
  std::vector<uint8_t> label{0, 1, 2, 0};
  for (int i = 0; i < 2; ++i) {
    auto results = step->run({{"x", {x, {4, 8}}}, {"label", label}});
    if (!results)
      return results.takeError();
    llvm::outs() << results->loss << "\n";
  }
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  if (llvm::Error error = run(argv[1], argv[2])) {
    llvm::errs() << toString(std::move(error)) << "\n";
    return 1;
  }
}
