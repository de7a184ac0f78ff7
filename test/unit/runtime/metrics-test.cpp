//===- metrics-test.cpp - metrics.jsonl and summary.json, to the letter ---===//
#include "TestFiles.h"
#include "runtime/train/Metrics.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mp;
using namespace mp::test;

namespace {

StepMetrics metrics(int64_t step) {
  return {.step = step,
          .loss = 0.1f,
          .scale = 65536,
          .lr = 1e-3f,
          .gradNorm = 2,
          .samplesPerSecond = 1000};
}

TEST(Metrics, WritesOneObjectAStep) {
  StepMetrics step = metrics(7);
  step.others = {{"accuracy", 0.5}};
  EXPECT_EQ(toJson(step),
            R"({"step":7,"loss":0.100000001,"scale":65536,"skipped":false,)"
            R"("lr":0.00100000005,"grad_norm":2,"samples_per_second":1000,)"
            R"("accuracy":0.5})");
}

TEST(Metrics, NumbersThatAreNotFiniteAreNull) {
  StepMetrics step = metrics(1);
  step.loss = NAN;
  step.gradNorm = INFINITY;
  step.skipped = true;
  EXPECT_EQ(
      toJson(step),
      R"({"step":1,"loss":null,"scale":65536,"skipped":true,)"
      R"("lr":0.00100000005,"grad_norm":null,"samples_per_second":1000})");
}

TEST(Metrics, F32AndF64SurviveTheText) {
  auto reread = [](double value) {
    StepMetrics step = metrics(1);
    step.loss = value;
    auto json = llvm::cantFail(llvm::json::parse(toJson(step)));
    return *json.getAsObject()->getNumber("loss");
  };
  for (double value : {0.1, 1e-300, 1.0 / 3})
    EXPECT_EQ(reread(value), value);
  for (float value : {0.1f, 1e38f, 1.0f / 3, 0x1p-149f})
    EXPECT_EQ(static_cast<float>(reread(value)), value);
}

TEST(Metrics, AResumedRunCutsOffWhatItWillWriteAgain) {
  TestFolder folder;
  std::string path = folder.path("metrics.jsonl");
  auto write = [&](int64_t keep, int64_t from, int64_t to) {
    auto file = llvm::cantFail(MetricsFile::open(path, keep));
    for (int64_t step = from; step <= to; ++step)
      file.add(metrics(step));
    EXPECT_EQ(message(file.flush()), "no error");
    return folder.read("metrics.jsonl");
  };
  std::string five = write(0, 1, 5);
  EXPECT_EQ(std::count(five.begin(), five.end(), '\n'), 5);
  EXPECT_EQ(write(3, 4, 5), five);
  EXPECT_EQ(write(5, 6, 5), five);
  // A line that a crash tore is cut off too.
  folder.write("metrics.jsonl", five + "{\"step\":6,\"lo");
  EXPECT_EQ(write(9, 6, 5), five);
  EXPECT_EQ(write(0, 1, 2), five.substr(0, five.find("{\"step\":3")));
}

TEST(Metrics, AFullDiskIsAnError) {
  auto file = llvm::cantFail(MetricsFile::open("/dev/full", 0));
  file.add(metrics(1));
  EXPECT_EQ(message(file.flush()),
            "cannot write /dev/full: No space left on device");
}

TEST(Metrics, SummaryHasItsKeys) {
  Summary summary{.trainLoss = 0.25,
                  .test = {{"loss", 0.5}, {"accuracy", 0.875}},
                  .steps = 10,
                  .skippedSteps = 1,
                  .monitor = "max:accuracy",
                  .bestScore = 0.9375,
                  .bestStep = 7,
                  .stopped = "enough",
                  .finalScale = 1024,
                  .compileSeconds = 0.5,
                  .trainSeconds = 2,
                  .dataWaitSeconds = 0.25,
                  .plannedBytes = 100,
                  .peakRssBytes = 200,
                  .module = "net",
                  .file = "a/net.mlir",
                  .recipe = "step",
                  .precision = "fp16",
                  .scaler = "torch",
                  .device = "cpu",
                  .batch = 128,
                  .accumulate = 2,
                  .seed = 18446744073709551615u};
  EXPECT_EQ(toJson(summary), R"({
  "train_loss": 0.25,
  "test_accuracy": 0.875,
  "test_loss": 0.5,
  "steps": 10,
  "skipped_steps": 1,
  "monitor": "max:accuracy",
  "best_score": 0.9375,
  "best_step": 7,
  "stopped": "enough",
  "final_scale": 1024,
  "compile_seconds": 0.5,
  "train_seconds": 2,
  "data_wait_seconds": 0.25,
  "planned_bytes": 100,
  "peak_rss_bytes": 200,
  "module": "net",
  "file": "a/net.mlir",
  "recipe": "step",
  "precision": "fp16",
  "scaler": "torch",
  "device": "cpu",
  "batch": 128,
  "accumulate": 2,
  "seed": 18446744073709551615
}
)");
  summary.trainLoss.reset();
  summary.test.clear();
  EXPECT_HAS(toJson(summary), R"("train_loss": null)");
  EXPECT_HAS(toJson(summary), R"("test_accuracy": null)");
}

TEST(Metrics, PeakMemoryIsInBytes) {
  EXPECT_GT(peakRssBytes(), uint64_t(1) << 20);
  EXPECT_LT(peakRssBytes(), uint64_t(1) << 40);
}

TEST(OutputFile, AnErrorLeavesTheOldFileAndNoTemporary) {
  TestFolder folder;
  std::string path = folder.write("file", "old");
  // The kernel refuses to write past a size; without the signal it returns
  // EFBIG.
  rlimit old, tiny;
  getrlimit(RLIMIT_FSIZE, &old);
  tiny = {1000, old.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tiny);
  std::string text = message(writeAtomically(path, [](OutputFile &file) {
    return file.write(std::string(5000, 'x'));
  }));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(text, "cannot write " + path + ": File too large");
  EXPECT_EQ(folder.read("file"), "old");
  EXPECT_EQ(folder.files(), 1u);
}

/// Removes files of a dead process, but not of one that runs.
TEST(OutputFile, RemovesWhatKilledProcessesLeft) {
  TestFolder folder;
  // The number may be that of a process of a container: here it may be free,
  // this process's own, or another's.
  std::string gone = folder.write("a.tmp.2147483645", "half");
  std::string own =
      folder.write("a.tmp." + std::to_string(getpid()) + ".7", "half");
  std::string living = folder.write("a.tmp." + std::to_string(getppid()), "");
  folder.write("a.tmp.1.x", "somebody's");
  folder.write("a.tmp.txt", "somebody's");
  folder.write("b.tmp.1", "of another file");
  // A writer has a lock, whatever its number here.
  std::string locked = folder.write("a.tmp.2147483646", "elsewhere");
  int other = open(locked.c_str(), O_RDONLY);
  flock(other, LOCK_EX);
  EXPECT_EQ(message(writeAtomically(
                folder.path("a"),
                [](OutputFile &file) { return file.write("new"); })),
            "no error");
  EXPECT_FALSE(llvm::sys::fs::exists(gone));
  EXPECT_FALSE(llvm::sys::fs::exists(own));
  EXPECT_FALSE(llvm::sys::fs::exists(living));
  EXPECT_EQ(folder.files(), 5u);
  close(other);
  removeAbandoned(folder.path("a"));
  EXPECT_FALSE(llvm::sys::fs::exists(locked));
  EXPECT_EQ(folder.files(), 4u);
}

TEST(OutputFile, IsWholeWhereTwoWriteToOnePath) {
  TestFolder folder;
  std::string path = folder.path("file");
  EXPECT_EQ(message(writeAtomically(path,
                                    [&](OutputFile &outer) {
                                      llvm::cantFail(outer.write("outer, "));
                                      llvm::cantFail(writeAtomically(
                                          path, [](OutputFile &inner) {
                                            return inner.write("inner");
                                          }));
                                      EXPECT_EQ(folder.read("file"), "inner");
                                      return outer.write("at its end");
                                    })),
            "no error");
  EXPECT_EQ(folder.read("file"), "outer, at its end");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputFile, ReplacesWholeFiles) {
  TestFolder folder;
  std::string path = folder.write("file", "old and longer");
  EXPECT_EQ(message(writeAtomically(
                path, [](OutputFile &file) { return file.write("new"); })),
            "no error");
  EXPECT_EQ(folder.read("file"), "new");
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_HAS(message(writeAtomically(
                 folder.path("no/file"),
                 [](OutputFile &file) { return file.write("new"); })),
             "cannot write " + folder.path("no/file"));
}

} // namespace
