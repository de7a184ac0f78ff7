//===- checkpoint.cpp - fuzz target: checkpoints and weights --------------===//
#include "runtime/train/Checkpoint.h"
#include "FakeSession.h"
#include "Target.h"
#include "runtime/train/CheckpointWeights.h"
#include "llvm/Support/FileSystem.h"

using namespace mp;
using namespace mp::fuzz;

static void load(test::FakeSession &session) {
  CompileOptions options;
  options.batch = 4;
  llvm::cantFail(session.load(
      llvm::cantFail(test::FakeCompiler()("histories", options, nullptr))));
}

/// The graph of the run that resumes.
static std::vector<SourceOp> graph() {
  std::string type = "(tensor<2x8xf32>) -> tensor<2x4xf32>";
  return {{"mp.read", "() -> tensor<8x4xf32>"},
          {"mp.linear", type, {0, 1}},
          {"mp.relu", type, {2}, {{"slope", "0.1"}}},
          {"mp.minimize", type, {3}, {{"optimizer", "#mp.sgd<lr = 1>"}}}};
}

/// A file that is removed when the process ends.
static const std::string &outputFile() {
  static const struct Output {
    Output() : path("/dev/shm/mantissa-fuzz-" + std::to_string(getpid())) {}
    ~Output() { llvm::sys::fs::remove(path); }
    std::string path;
  } output;
  return output.path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MemoryFile memory;
  std::string path = memory.write(asSafetensors(textOf(data, size)));
  test::FakeSession session;
  load(session);
  for (Weights which : {Weights::Trained, Weights::Averaged, Weights::Initial})
    llvm::consumeError(loadWeights(path, session, which));
  auto checkpoint = Checkpoint::open(path);
  if (!succeeds(checkpoint))
    return 0;
  require(checkpoint->state().step >= 0 && checkpoint->state().batch >= 0,
          "a step or a batch below zero");
  (void)checkpoint->scale();
  (void)checkpoint->bytes();
  (void)checkpoint->compareGraph("fake", graph());
  llvm::consumeError(checkpoint->checkGraph("other", graph()));
  auto change = checkpoint->restore(session);
  (void)succeeds(change);
  auto exported = exportWeights(path, outputFile(), Weights::Trained);
  if (succeeds(exported)) {
    auto written = readSafetensors(outputFile());
    require(succeeds(written) && written->tensors.size() == exported->tensors,
            "the exported file is another one");
  }
  return 0;
}
