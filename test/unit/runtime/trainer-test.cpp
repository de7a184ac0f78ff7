//===- trainer-test.cpp - the Trainer around a fake model -----------------===//
//
// Order, resuming, files, signals, errors.
//
//===----------------------------------------------------------------------===//
#include "FakeSession.h"
#include "TestFiles.h"
#include "runtime/train/Trainer.h"
#include "llvm/Support/JSON.h"
#include <csignal>
#include <sys/resource.h>

using namespace mp;
using namespace mp::test;

namespace {

class TrainerTest : public testing::Test {
protected:
  TrainerTest() {
    folder.write("net.mlir", "");
    std::string labels;
    for (int i = 0; i < 50; ++i)
      labels += char(i * 7 % 10);
    folder.write("train.idx", idx(0x08, {50}, labels));
    folder.write("test.idx", idx(0x08, {30}, labels.substr(0, 30)));
  }
  /// 50 samples in batches of 8: six and a remainder of two in an epoch.
  TrainOptions options(const std::string &out = "") {
    TrainOptions options;
    options.module = folder.path("net.mlir");
    options.data = folder.root;
    options.out = out.empty() ? "" : folder.path(out);
    options.device = "cpu";
    options.epochs = 4;
    options.batch = 8;
    options.seed = 3;
    return options;
  }
  llvm::Expected<std::unique_ptr<Trainer>> create(TrainOptions options) {
    return Trainer::create(std::move(options), compiler, createFakeSession);
  }
  std::string createFault(TrainOptions options) {
    return message(create(std::move(options)));
  }
  TrainOutcome train(TrainOptions options) {
    return llvm::cantFail(llvm::cantFail(create(std::move(options)))->train());
  }
  llvm::json::Object json(const std::string &text) {
    return *llvm::cantFail(llvm::json::parse(text)).getAsObject();
  }
  /// Returns metrics.jsonl without the fields that depend on the clock.
  std::vector<std::string> timeless(const std::string &run) {
    std::vector<std::string> lines;
    llvm::SmallVector<llvm::StringRef> parts;
    std::string text = folder.read(run + "/metrics.jsonl");
    llvm::StringRef(text).split(parts, '\n', -1, false);
    for (llvm::StringRef part : parts) {
      llvm::json::Object object = json(part.str());
      object.erase("samples_per_second");
      lines.push_back(
          llvm::formatv("{0}", llvm::json::Value(std::move(object))));
    }
    return lines;
  }
  TestFolder folder;
  FakeCompiler compiler;
};

TEST_F(TrainerTest, SaysWhatItRunsBeforeTheFirstStep) {
  TrainOptions once = options("run");
  once.policy = "mine.json";
  once.scaler = "static:8";
  once.function = "step";
  train(once);
  EXPECT_EQ(folder.read("run/casts.json"), "[8]\n"); // of a whole batch
  llvm::json::Object plan = json(folder.read("run/plan.json"));
  EXPECT_EQ(plan.getString("module"), "fake");
  EXPECT_EQ(plan.getString("policy"), "mine.json");
  EXPECT_TRUE(plan.getObject("bytes")->getInteger("total"));
  llvm::json::Object summary = json(folder.read("run/summary.json"));
  EXPECT_EQ(summary.getString("module"), "fake");
  EXPECT_EQ(summary.getString("file"), folder.path("net.mlir"));
  EXPECT_EQ(summary.getString("recipe"), "step");
  EXPECT_EQ(summary.getString("policy"), "mine.json");
  EXPECT_EQ(summary.getString("scaler"), "static:8");
  EXPECT_EQ(summary.getInteger("batch"), 8);

  // A resumed run may be on another machine, so these files are written anew.
  folder.write("run/plan.json", "");
  folder.write("run/casts.json", "");
  TrainOptions resumed = options("run");
  resumed.policy = "mine.json";
  resumed.resume = folder.path("run");
  resumed.epochs = 5;
  train(resumed);
  EXPECT_EQ(folder.read("run/casts.json"), "[8]\n");
  EXPECT_EQ(json(folder.read("run/plan.json")).getString("module"), "fake");
}

TEST_F(TrainerTest, ARunThatDoesNotEndLeavesNoSummaryOfTheOneBefore) {
  train(options("run"));
  llvm::sys::fs::remove(folder.path("run/metrics.jsonl"));
  ASSERT_FALSE(
      llvm::sys::fs::create_directory(folder.path("run/metrics.jsonl")));
  auto trainer = llvm::cantFail(create(options("run")));
  EXPECT_HAS(message(trainer->train()), "metrics.jsonl");
  EXPECT_FALSE(llvm::sys::fs::exists(folder.path("run/summary.json")));
}

TEST_F(TrainerTest, TrainsEveryBatchOfEveryEpoch) {
  auto trainer = llvm::cantFail(create(options()));
  EXPECT_EQ(trainer->stepsPerEpoch(), 7);
  EXPECT_EQ(trainer->totalSteps(), 28);
  EXPECT_EQ(*compiler.totalSteps, 28);
  for (int64_t step = 1; step <= 28; ++step) {
    StepMetrics metrics = llvm::cantFail(trainer->step());
    EXPECT_EQ(metrics.step, step);
    EXPECT_EQ(metrics.skipped, step % 5 == 0);
    ASSERT_EQ(metrics.others.size(), 1u);
    EXPECT_EQ(metrics.others[0].second, step % 7 ? 8 : 2);
  }
  EXPECT_EQ(message(trainer->step()), "the run is over after 28 steps");
}

TEST_F(TrainerTest, TrainsAgainAfterARunThatWasGivenUp) {
  TrainOptions impatient = options();
  impatient.maxSkipped = 1;
  auto trainer = llvm::cantFail(create(impatient));
  std::string start = folder.path("start.safetensors");
  ASSERT_EQ(message(trainer->save(start)), "no error");
  for (int run = 0; run < 2; ++run) {
    EXPECT_HAS(message(trainer->train()), "1 steps in a row were skipped");
    EXPECT_EQ(trainer->stepsDone(), 5);
    ASSERT_EQ(message(trainer->load(start)), "no error");
    EXPECT_EQ(trainer->stepsDone(), 0);
  }
}

TEST_F(TrainerTest, CompilesEachProgramOnce) {
  {
    auto trainer = llvm::cantFail(create(options()));
    llvm::cantFail(trainer->train());
  }
  // The five are: inspect; step at 8 and 2; evaluate at 8 and 6.
  EXPECT_EQ(*compiler.calls, 5);
}

/// A device on which two steps are under way at a time changes no number.
TEST_F(TrainerTest, StepsThatOverlapAreTheSameSteps) {
  auto overlapping =
      [](const SessionOptions &) -> llvm::Expected<std::unique_ptr<Session>> {
    auto session = std::make_unique<FakeSession>();
    session->inFlight = 2;
    return session;
  };
  for (int64_t every : {0, 1, 3}) {
    TrainOptions one = options("one"), two = options("two");
    one.checkpointEvery = two.checkpointEvery = every;
    one.maxSteps = two.maxSteps = 26;
    train(one);
    auto trainer = llvm::cantFail(Trainer::create(two, compiler, overlapping));
    llvm::cantFail(trainer->train());
    EXPECT_EQ(timeless("two").size(), 26u);
    EXPECT_EQ(timeless("one"), timeless("two"));
    EXPECT_EQ(folder.read("one/checkpoint.safetensors"),
              folder.read("two/checkpoint.safetensors"));
    // A single step continues after the steps of train().
    EXPECT_EQ(message(trainer->step()),
              "the run is over after 26 steps: maxSteps is 26, and "
              "there are 28");
  }
}

/// Nine rows are three micro-batches of three; the last five are three and two.
TEST_F(TrainerTest, MicroBatchesAreOneBatch) {
  TrainOptions one = options(), parts = options();
  one.batch = 9;
  parts.batch = parts.accumulate = 3;
  auto whole = llvm::cantFail(create(one));
  auto split = llvm::cantFail(create(parts));
  ASSERT_EQ(split->totalSteps(), whole->totalSteps());
  for (int64_t step = 0; step < whole->totalSteps(); ++step) {
    StepMetrics expected = llvm::cantFail(whole->step());
    StepMetrics found = llvm::cantFail(split->step());
    EXPECT_EQ(found.step, expected.step);
    EXPECT_EQ(found.skipped, expected.skipped);
    EXPECT_EQ(found.others, expected.others); // rows
    EXPECT_NEAR(found.loss, expected.loss, 1e-5);
    EXPECT_NEAR(found.gradNorm, expected.gradNorm, 1e-5);
  }
}

TEST_F(TrainerTest, TheRecipeSaysHowManyMicroBatches) {
  folder.write("net.mlir", "windows");
  TrainOptions plain = options();
  plain.batch = 4;
  EXPECT_EQ(llvm::cantFail(create(plain))->stepsPerEpoch(), 4);
  plain.accumulate = 1;
  EXPECT_EQ(llvm::cantFail(create(plain))->stepsPerEpoch(), 13);
  plain.batch = 13;
  plain.accumulate = 0;
  EXPECT_EQ(createFault(plain), "batch 13 times 4 micro-batches is larger than "
                                "the data set of 50 samples (net.mlir:5:1)");
}

/// Checkpoints fall between windows and hold nothing of them.
TEST_F(TrainerTest, ResumesBetweenWindows) {
  folder.write("net.mlir", "windows");
  TrainOptions whole = options("whole"), half = options("half");
  whole.batch = half.batch = 3;
  train(whole);
  half.maxSteps = 7;
  half.checkpointEvery = 3;
  train(half);
  std::string checkpoint = folder.read("half/checkpoint.safetensors");
  EXPECT_EQ(checkpoint.find("\"sum\""), std::string::npos);
  TrainOptions rest;
  rest.module = half.module;
  rest.data = half.data;
  rest.out = rest.resume = half.out;
  rest.accumulate = 2;
  EXPECT_EQ(createFault(rest),
            "cannot resume with another accumulate: the checkpoint has '4', "
            "this run asks for '2'");
  rest.accumulate = 0;
  // The number is the run's, although the recipe has changed.
  folder.write("net.mlir", "");
  train(rest);
  EXPECT_EQ(timeless("half"), timeless("whole"));
  EXPECT_EQ(folder.read("half/checkpoint.safetensors"),
            folder.read("whole/checkpoint.safetensors"));
}

TEST_F(TrainerTest, LoadingBeginsAWindow) {
  TrainOptions parts = options();
  parts.batch = 4;
  parts.accumulate = 2;
  auto trainer = llvm::cantFail(create(parts));
  llvm::cantFail(trainer->step());
  llvm::cantFail(trainer->save(folder.path("c.safetensors")));
  double loss = llvm::cantFail(trainer->step()).gradNorm;
  float left = 7;
  llvm::cantFail(trainer->session().write(
      "sum", {reinterpret_cast<char *>(&left), sizeof(left)}));
  llvm::cantFail(trainer->load(folder.path("c.safetensors")));
  EXPECT_EQ(llvm::cantFail(trainer->step()).gradNorm, loss);
}

TEST_F(TrainerTest, WritesItsFiles) {
  TrainOutcome outcome = train(options("run"));
  EXPECT_EQ(outcome.signal, 0);
  std::vector<std::string> lines = timeless("run");
  EXPECT_EQ(lines.size(), 28u);
  llvm::json::Object first = json(lines[0]);
  for (const char *key :
       {"step", "loss", "scale", "skipped", "lr", "grad_norm", "rows"})
    EXPECT_TRUE(first.get(key)) << key;
  EXPECT_EQ(first.size(), 7u);

  llvm::json::Object summary = json(folder.read("run/summary.json"));
  EXPECT_EQ(summary.getInteger("steps"), 28);
  EXPECT_EQ(summary.getInteger("skipped_steps"), 5);
  EXPECT_NEAR(*summary.getNumber("test_accuracy"), 0.5, 1e-6);
  EXPECT_TRUE(summary.getNumber("test_loss"));
  EXPECT_EQ(summary.getString("device"), "cpu");
  EXPECT_EQ(summary.getInteger("seed"), 3);
  EXPECT_EQ(summary.getInteger("planned_bytes"), 4096);

  // Mean over the last epoch without its skipped step, number 25.
  double sum = 0;
  for (int step : {22, 23, 24, 26, 27, 28})
    sum += *json(lines[step - 1]).getNumber("loss");
  EXPECT_NEAR(*summary.getNumber("train_loss"), sum / 6, 1e-6);
  EXPECT_EQ(llvm::cantFail(Checkpoint::open(folder.path("run"))).state().step,
            28);
}

TEST_F(TrainerTest, StoppedAndResumedIsTheSameRun) {
  TrainOutcome whole = train(options("whole"));
  // The run stops in the middle of an epoch and at its end, and goes on in
  // place.
  for (int64_t stop : {10, 14}) {
    TrainOptions half = options("half");
    half.maxSteps = stop;
    EXPECT_EQ(train(half).summary.steps, stop);
    EXPECT_EQ(*compiler.totalSteps, 28) << "the schedule keeps its length";
    TrainOptions rest;
    rest.module = half.module;
    rest.data = half.data;
    rest.out = rest.resume = half.out;
    rest.threads = 2;
    TrainOutcome resumed = train(rest);
    EXPECT_EQ(timeless("half"), timeless("whole"));
    EXPECT_EQ(folder.read("half/checkpoint.safetensors"),
              folder.read("whole/checkpoint.safetensors"));
    EXPECT_EQ(resumed.summary.trainLoss, whole.summary.trainLoss);
    EXPECT_EQ(resumed.summary.skippedSteps, whole.summary.skippedSteps);
  }
}

/// Single steps equal one long run.
TEST_F(TrainerTest, StepsEndWithTheLastThatIsAskedFor) {
  TrainOptions five = options();
  five.maxSteps = 5;
  auto trainer = llvm::cantFail(create(five));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(message(trainer->step()), "no error");
  EXPECT_EQ(message(trainer->step()),
            "the run is over after 5 steps: maxSteps is 5, and there are 28");
  five.maxSteps = 0;
  five.epochs = 1;
  trainer = llvm::cantFail(create(five));
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(message(trainer->step()), "no error");
  EXPECT_EQ(message(trainer->step()), "the run is over after 7 steps");
}

TEST_F(TrainerTest, SeedAndShuffleMatter) {
  TrainOptions other = options("b");
  train(options("a"));
  other.shuffle = false;
  train(other);
  EXPECT_NE(timeless("a"), timeless("b"));
  other = options("c");
  other.seed = 4;
  train(other);
  EXPECT_NE(timeless("a"), timeless("c"));
}

TEST_F(TrainerTest, DropLastLeavesTheRemainderOut) {
  TrainOptions dropping = options();
  dropping.dropLast = true;
  auto trainer = llvm::cantFail(create(dropping));
  EXPECT_EQ(trainer->totalSteps(), 24);
  for (int i = 0; i < 24; ++i)
    EXPECT_EQ(llvm::cantFail(trainer->step()).others[0].second, 8);
}

TEST_F(TrainerTest, GoesBackToACheckpoint) {
  auto trainer = llvm::cantFail(create(options()));
  for (int i = 0; i < 9; ++i)
    llvm::cantFail(trainer->step());
  llvm::cantFail(trainer->save(folder.path("c.safetensors")));
  double loss = llvm::cantFail(trainer->step()).loss;
  double next = llvm::cantFail(trainer->step()).loss;
  llvm::cantFail(trainer->load(folder.path("c.safetensors")));
  EXPECT_EQ(trainer->stepsDone(), 9);
  EXPECT_EQ(llvm::cantFail(trainer->step()).loss, loss);
  EXPECT_EQ(llvm::cantFail(trainer->step()).loss, next);
}

TEST_F(TrainerTest, EvaluatesACheckpoint) {
  train(options("run"));
  EvalOptions eval;
  eval.module = folder.path("net.mlir");
  eval.data = folder.root;
  eval.checkpoint = folder.path("run");
  eval.batch = 7;
  NamedNumbers got =
      llvm::cantFail(evaluate(eval, compiler, createFakeSession));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].first, "accuracy");
  EXPECT_NEAR(got[0].second, 0.5, 1e-6);
  EXPECT_NEAR(got[1].second,
              *json(folder.read("run/summary.json")).getNumber("test_loss"),
              1e-6);
}

TEST_F(TrainerTest, ASignalSavesAndStops) {
  TrainOptions slow = options("run");
  slow.epochs = 1000000;
  slow.handleSignals = true;
  auto trainer = llvm::cantFail(create(slow));
  std::thread sender([&] {
    // Once a line is on the disk, training runs and so the handler is
    // installed.
    while (folder.read("run/metrics.jsonl").empty())
      std::this_thread::yield();
    ::kill(::getpid(), SIGTERM);
  });
  TrainOutcome outcome = llvm::cantFail(trainer->train());
  sender.join();
  EXPECT_EQ(outcome.signal, SIGTERM);
  auto state = llvm::cantFail(Checkpoint::open(folder.path("run"))).state();
  EXPECT_EQ(state.step, outcome.summary.steps);
  EXPECT_EQ(int64_t(timeless("run").size()), state.step);
  EXPECT_TRUE(json(folder.read("run/summary.json")).get("test_accuracy"));
}

TEST_F(TrainerTest, ProgressIsPlainAwayFromATerminal) {
  TrainOptions logging = options("run");
  std::string text;
  llvm::raw_string_ostream os(text);
  logging.log = &os;
  train(logging);
  EXPECT_HAS(text, "device cpu (fake)");
  EXPECT_HAS(text, "planned memory 0.0 MiB, compiled in ");
  EXPECT_HAS(text, "epoch 4  step 28/28  loss ");
  EXPECT_HAS(text, "skipped 5");
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find("nothing is left"), std::string::npos);
  logging.resume = logging.out;
  train(logging);
  EXPECT_HAS(text, "nothing is left to train: the checkpoint has 28 steps, "
                   "this run asks for 28");
}

TEST_F(TrainerTest, NamesWhatIsWrongBeforeItTrains) {
  TrainOptions wrong = options();
  wrong.batch = 51;
  EXPECT_EQ(createFault(wrong), "batch 51 is larger than the data set of 50 "
                                "samples (net.mlir:5:1)");
  wrong.batch = 0;
  EXPECT_HAS(createFault(wrong), "batch 0");
  wrong = options();
  wrong.device = "cuda:1000";
  EXPECT_HAS(createFault(wrong), "device cuda:1000 is not available: ");
  wrong.device = "cdua";
  EXPECT_HAS(createFault(wrong),
             "unknown device 'cdua', did you mean 'cuda' or 'cpu'?");
  wrong = options();
  wrong.module = folder.path("none.mlir");
  EXPECT_EQ(createFault(wrong), wrong.module + ": No such file or directory");
  wrong = options();
  wrong.data = folder.path("none");
  EXPECT_HAS(createFault(wrong), "cannot open data folder");
  folder.write("net.mlir", "lossless");
  EXPECT_HAS(createFault(options()),
             "net.mlir: error: the function of recipe '' has no result 'loss', "
             "did you mean 'los' or 'rows'? write {mp.name = \"loss\"} after "
             "the type of the result to minimise");
  folder.write("net.mlir", "broken");
  EXPECT_EQ(createFault(options()), "net.mlir:1:1: error: broken");
}

TEST_F(TrainerTest, ResumesOnlyTheSameRun) {
  TrainOptions first = options("run");
  first.maxSteps = 3;
  train(first);
  TrainOptions rest = options();
  rest.resume = folder.path("run");
  rest.batch = 4;
  EXPECT_EQ(createFault(rest),
            "cannot resume with another batch: the checkpoint "
            "has '8', this run asks for '4'");
  rest.batch = 8;
  rest.precision = "bf16";
  EXPECT_HAS(createFault(rest), "another precision: the checkpoint has the "
                                "recipe's, this run asks for 'bf16'");
  rest.precision = "";
  rest.clipNorm = 1e-6;
  EXPECT_HAS(createFault(rest), "another clip-norm: the checkpoint has the "
                                "recipe's, this run asks for '1e-06'");
  rest.clipNorm = 0;
  rest.init = "w.safetensors";
  EXPECT_HAS(createFault(rest), "exclude each other");
  rest.init = "";
  folder.write("train.idx", idx(0x08, {9}, "123456789"));
  EXPECT_HAS(createFault(rest), "with 50 samples");
  rest.resume = folder.path("nowhere");
  EXPECT_HAS(createFault(rest), "No such file");
}

TEST_F(TrainerTest, SaysThatTheTuningPlanIsAnother) {
  std::string plan = "1234", text;
  llvm::raw_string_ostream os(text);
  auto planned = [&](llvm::StringRef module, const CompileOptions &options,
                     KernelSink *sink) -> llvm::Expected<Program> {
    auto program = compiler(module, options, sink);
    if (program)
      program->plan = plan;
    return program;
  };
  TrainOptions first = options("run");
  first.maxSteps = 3;
  llvm::cantFail(
      llvm::cantFail(Trainer::create(first, planned, createFakeSession))
          ->train());
  TrainOptions rest = options();
  rest.resume = folder.path("run");
  rest.log = &os;
  llvm::cantFail(Trainer::create(rest, planned, createFakeSession));
  EXPECT_EQ(text.find("tuning plan"), std::string::npos) << text;
  plan = "5678";
  llvm::cantFail(Trainer::create(rest, planned, createFakeSession));
  EXPECT_HAS(text, "note: the checkpoint was made with tuning plan 1234; the "
                   "last bits of results may differ with tuning plan 5678\n");
  plan = "";
  llvm::cantFail(Trainer::create(rest, planned, createFakeSession));
  EXPECT_HAS(text, "may differ without a tuning plan\n");
}

TEST_F(TrainerTest, ProfilesAndForgets) {
  TrainOptions profiled = options("run");
  profiled.maxSteps = 3;
  profiled.profile = folder.path("profile.json");
  auto trainer = llvm::cantFail(create(profiled));
  llvm::cantFail(trainer->train());
  llvm::json::Object profile = json(folder.read("profile.json"));
  for (const char *key :
       {"copy_gbps", "graph_nodes", "host_microseconds", "launches"})
    EXPECT_TRUE(profile.get(key)) << key;
  llvm::cantFail(trainer->save(folder.path("after.safetensors")));
  EXPECT_EQ(folder.read("run/checkpoint.safetensors"),
            folder.read("after.safetensors"));
}

TEST_F(TrainerTest, AFullDiskEndsTheRunAndKeepsTheCheckpoint) {
  TrainOptions first = options("run");
  first.maxSteps = 3;
  train(first);
  std::string before = folder.read("run/checkpoint.safetensors");
  TrainOptions rest = options("run");
  rest.resume = rest.out;
  rlimit old, tiny;
  getrlimit(RLIMIT_FSIZE, &old);
  tiny = {512, old.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  auto trainer = llvm::cantFail(create(rest));
  setrlimit(RLIMIT_FSIZE, &tiny);
  std::string text = message(trainer->train());
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_HAS(text, "cannot write " + folder.path("run/"));
  EXPECT_HAS(text, "File too large");
  EXPECT_EQ(folder.read("run/checkpoint.safetensors"), before);
}

} // namespace
