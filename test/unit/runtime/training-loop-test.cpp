//===- training-loop-test.cpp - the loop around a fake model --------------===//
//
// Observers are notified in order, no step overlaps a pause, and a repeated
// step is the same step but is not inspected.
//
//===----------------------------------------------------------------------===//
#include "FakeSession.h"
#include "TestFiles.h"
#include "runtime/train/RunCheckpoint.h"
#include "runtime/train/TrainingLoop.h"
#include "runtime/train/TrainingSetUp.h"

using namespace mp;
using namespace mp::test;

namespace {

/// Writes down the calls that it gets, with its name.
struct Witness : TrainingObserver {
  Witness(std::string name, std::vector<std::string> &told)
      : name(std::move(name)), told(told) {}
  llvm::Error begin() override { return tell("begins"); }
  llvm::Error stepFinished(StepMetrics &metrics) override {
    if (metrics.step == failsAt)
      return llvm::createStringError("no step " + std::to_string(failsAt));
    return tell(std::to_string(metrics.step));
  }
  llvm::Error stepsEnded(bool interrupted) override { return tell("ends"); }
  llvm::Error tell(const std::string &what) {
    told.push_back(name + " " + what);
    return llvm::Error::success();
  }
  std::string name;
  std::vector<std::string> &told;
  int64_t failsAt = 0;
};

/// Needs the state after every `period` steps, and counts the steps under way.
struct Pausing : TrainingObserver {
  Pausing(const TrainingRun &run, const TrainingStep &steps, int64_t period)
      : run(run), steps(steps), period(period) {}
  int64_t nextPause() const override {
    return nextMultiple(run.state.step, period);
  }
  llvm::Error stepFinished(StepMetrics &) override {
    bool isPause = run.state.step % period == 0;
    (isPause ? atPauses : elsewhere).push_back(steps.underWay());
    return llvm::Error::success();
  }
  const TrainingRun &run;
  const TrainingStep &steps;
  int64_t period;
  std::vector<size_t> atPauses, elsewhere;
};

struct CountingInspector : StepInspector {
  llvm::Error microBatch(Executable &, Executable::Ticket, int64_t,
                         int64_t) override {
    return llvm::Error::success();
  }
  llvm::Error finished(const StepResults &, StepMetrics &) override {
    ++asked;
    return llvm::Error::success();
  }
  int asked = 0;
};

class TrainingLoopTest : public testing::Test {
protected:
  TrainingLoopTest() {
    folder.write("net.mlir", "");
    std::string labels(50, '\3');
    folder.write("train.idx", idx(0x08, {50}, labels));
    folder.write("test.idx", idx(0x08, {50}, labels));
  }
  /// Seven steps an epoch.
  TrainingSetUp setUp(int64_t maxSteps) {
    TrainOptions options;
    options.module = folder.path("net.mlir");
    options.data = folder.root;
    options.device = "cpu";
    options.batch = 8;
    options.maxSteps = maxSteps;
    auto overlapping =
        [](const SessionOptions &) -> llvm::Expected<std::unique_ptr<Session>> {
      auto session = std::make_unique<FakeSession>();
      session->inFlight = 2;
      return session;
    };
    return llvm::cantFail(setUpTraining(options, compiler, overlapping));
  }
  TestFolder folder;
  FakeCompiler compiler;
};

TEST_F(TrainingLoopTest, TellsObserversInTheirOrder) {
  TrainingSetUp made = setUp(2);
  std::vector<std::string> told;
  Witness first("a", told), second("b", told);
  TrainingObserver *observers[] = {&first, &second};
  TrainingLoop loop(*made.run, *made.steps, observers);
  EXPECT_FALSE(llvm::cantFail(loop.runSteps()));
  EXPECT_EQ(told,
            (std::vector<std::string>{"a begins", "b begins", "a 1", "b 1",
                                      "a 2", "b 2", "a ends", "b ends"}));
  EXPECT_GT(loop.seconds(), 0);
}

TEST_F(TrainingLoopTest, AnErrorOfAnObserverEndsIt) {
  TrainingSetUp made = setUp(3);
  std::vector<std::string> told;
  Witness first("a", told), second("b", told);
  first.failsAt = 2;
  TrainingObserver *observers[] = {&first, &second};
  TrainingLoop loop(*made.run, *made.steps, observers);
  EXPECT_EQ(message(loop.runSteps()), "no step 2");
  EXPECT_EQ(told.back(), "b 1");
}

TEST_F(TrainingLoopTest, ARunThatWasGivenUpSubmitsNothing) {
  TrainingSetUp made = setUp(3);
  made.run->gaveUp = "tired";
  std::vector<std::string> told;
  Witness witness("a", told);
  TrainingObserver *observers[] = {&witness};
  TrainingLoop loop(*made.run, *made.steps, observers);
  EXPECT_FALSE(llvm::cantFail(loop.runSteps()));
  EXPECT_EQ(told, (std::vector<std::string>{"a begins", "a ends"}));
}

TEST_F(TrainingLoopTest, NoStepOverlapsAPause) {
  TrainingSetUp made = setUp(0);
  Pausing two(*made.run, *made.steps, 2), three(*made.run, *made.steps, 3);
  TrainingObserver *observers[] = {&two, &three};
  TrainingLoop loop(*made.run, *made.steps, observers);
  EXPECT_FALSE(llvm::cantFail(loop.runSteps()));
  EXPECT_EQ(two.atPauses, (std::vector<size_t>{0, 0, 0}));
  EXPECT_EQ(three.atPauses, (std::vector<size_t>{0, 0}));
  // Steps 1 and 5 have one after them under way, 3 and 7 have none.
  EXPECT_EQ(two.elsewhere, (std::vector<size_t>{1, 0, 1, 0}));
}

TEST_F(TrainingLoopTest, ARepeatedStepIsTheSameAndIsNotLookedAt) {
  TrainingSetUp made = setUp(0);
  CountingInspector inspector;
  TrainingStep steps(*made.run, &inspector);
  auto step = [&] {
    llvm::cantFail(steps.submit());
    return llvm::cantFail(steps.finish());
  };
  step();
  step();
  double loss = step().loss;
  EXPECT_EQ(inspector.asked, 3);
  llvm::cantFail(steps.submit());
  steps.drop();
  llvm::cantFail(beginRun(*made.run));
  llvm::cantFail(steps.repeat());
  llvm::cantFail(steps.repeat());
  EXPECT_EQ(made.run->state.step, 2);
  EXPECT_EQ(inspector.asked, 3);
  EXPECT_EQ(step().loss, loss);
  EXPECT_EQ(inspector.asked, 4);
}

} // namespace
