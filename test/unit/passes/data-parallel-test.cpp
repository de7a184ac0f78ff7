//===- data-parallel-test.cpp - ranks are micro-batches -------------------===//
//
// N ranks, each with rows of its own, against one rank that takes the same rows
// in N micro-batches: all state and all results, bit for bit. Ranks are threads
// here, each with a session.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "runtime/ranks/ThreadRanks.h"
#include "runtime/train/WholeSession.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>
#include <thread>

using namespace mp;
using namespace llvm;

namespace {

/// This must run before anything opens CUDA.
const bool emulated = [] {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
  setenv("MP_EMULATOR_DEVICES", "3", 1);
  return true;
}();
const Device kCpu = {}, kCuda = {Device::Kind::Cuda, 0};

constexpr int64_t kInputs = 6;

/// Two layers, with a batch norm, running statistics and dropout between them.
std::string network(StringRef recipe, double dropout = 0.25) {
  return formatv(R"mlir(
    mp.variable @w1 : tensor<8x6xf32> = #mp.init<kaiming_uniform>
    mp.variable @g : tensor<8xf32> = #mp.init<ones>
    mp.variable @b1 : tensor<8xf32> = #mp.init<zeros>
    mp.variable @w2 : tensor<1x8xf32> = #mp.init<kaiming_uniform>
    mp.variable buffer @bn.mean : tensor<8xf32> = #mp.init<zeros>
    mp.variable buffer @bn.var : tensor<8xf32> = #mp.init<ones>
    mp.variable buffer @batches : tensor<i64> = #mp.init<zeros>
    mp.variable buffer @running : tensor<8xf32> = #mp.init<zeros>
    mp.variable buffer @last : tensor<8xf32> = #mp.init<zeros>
    func.func @loss(%x: tensor<?x6xf32> {{mp.name = "x"}, %t: tensor<?x1xf32> {{mp.name = "t"})
        -> (tensor<f32> {{mp.name = "loss"}, tensor<?x1xf32>, tensor<f32> {{mp.name = "error"}) {{
      %w1 = mp.read @w1 : tensor<8x6xf32>
      %g = mp.read @g : tensor<8xf32>
      %b1 = mp.read @b1 : tensor<8xf32>
      %linear = mp.linear %x, %w1 : tensor<?x6xf32>, tensor<8x6xf32>
      %m = mp.read @bn.mean : tensor<8xf32>
      %v = mp.read @bn.var : tensor<8xf32>
      %h, %mean, %rstd, %new_m, %new_v = mp.batch_norm %linear, %m, %v weight(%g : tensor<8xf32>)
        bias(%b1 : tensor<8xf32>) : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
      mp.write @bn.mean, %new_m : tensor<8xf32>
      mp.write @bn.var, %new_v : tensor<8xf32>
      %n = mp.read @batches : tensor<i64>
      %one = mp.constant dense<1> : tensor<i64>
      %n1 = mp.add %n, %one : tensor<i64>, tensor<i64>
      mp.write @batches, %n1 : tensor<i64>
      %still = mp.stop_gradient %linear : tensor<?x8xf32>
      %average = mp.mean %still dims[0] : tensor<?x8xf32>
      %old = mp.read @running : tensor<8xf32>
      %half = mp.constant dense<0.3> : tensor<f32>
      %sum = mp.add %old, %average : tensor<8xf32>, tensor<8xf32>
      %new = mp.mul %sum, %half : tensor<8xf32>, tensor<f32>
      mp.write @running, %new : tensor<8xf32>
      mp.write @last, %average : tensor<8xf32>
      %a = mp.tanh %h : tensor<?x8xf32>
      %d0 = mp.dropout %a {{p = {1}} : tensor<?x8xf32>
      %w2 = mp.read @w2 : tensor<1x8xf32>
      %y = mp.linear %d0, %w2 : tensor<?x8xf32>, tensor<1x8xf32>
      %d = mp.sub %y, %t : tensor<?x1xf32>, tensor<?x1xf32>
      %s = mp.mul %d, %d : tensor<?x1xf32>, tensor<?x1xf32>
      %l = mp.mean %s dims[0, 1] : tensor<?x1xf32>
      %e = mp.sqrt %l : tensor<f32>
      return %l, %y, %e : tensor<f32>, tensor<?x1xf32>, tensor<f32>
    }
    mp.scaler @scaler {{init_scale = 1024.0, growth_interval = 3}
    mp.train @step of @loss {0} {{
      mp.minimize result(0) {{optimizer = #mp.adamw<lr = 5.0e-2>, ema = 0.5}
    })mlir",
                 recipe, dropout)
      .str();
}

using Bytes = std::map<std::string, std::string>;

/// The elements of a variable of f32.
Numbers numbersOf(const std::string &bytes) {
  return unpack(bytes.data(),
                {ElementType::F32, {static_cast<int64_t>(bytes.size() / 4)}});
}

/// A process of a run: a session, and the entry points of one step.
class Process {
public:
  Process(StringRef module, CompileOptions options,
          std::shared_ptr<Communicator> ranks, ArrayRef<int64_t> sizes,
          Device device = kCpu)
      : ranks(std::move(ranks)) {
    SessionOptions sessionOptions;
    sessionOptions.threads = 1;
    sessionOptions.ranks = this->ranks;
    sessionOptions.device = device;
    session = cantFail(Session::create(sessionOptions));
    options.target = session->target().str();
    options.arch = session->arch();
    for (int64_t size : sizes) {
      options.batch = size;
      if (this->ranks)
        options.ranks = this->ranks->size();
      Program program = cantFail(compile(module, options));
      gathers = program.accumulate > 1;
      cantFail(session->load(std::move(program)));
    }
    cantFail(session->initialize(/*seed=*/3));
  }

  /// Runs one step on micro-batches of these sizes, from row `first` on, and
  /// returns its results.
  Bytes step(const Numbers &x, const Numbers &t, int64_t first,
             ArrayRef<int64_t> sizes) {
    Bytes named;
    auto run = [&](StringRef function, int64_t batch) {
      Executable *executable = session->find(function, batch);
      auto part = [&](const Numbers &all, int64_t width) {
        auto begin = all.begin() + first * width;
        return pack({begin, begin + batch * width}, ElementType::F32);
      };
      std::string own = part(x, kInputs), target = part(t, 1);
      std::vector<TensorView> inputs;
      if (batch)
        inputs = {{ElementType::F32, own}, {ElementType::F32, target}};
      auto results = cantFail(executable->run(inputs));
      for (auto [i, result] : enumerate(executable->entry().results))
        if (!result.name.empty())
          named[result.name] =
              std::string(static_cast<const char *>(results[i].data()),
                          result.type.bytes());
    };
    for (int64_t size : sizes) {
      run(gathers ? "accumulate" : "step", size);
      first += size;
    }
    if (gathers)
      run("apply", 0);
    return named;
  }

  void setIdle(bool idle) {
    cantFail(session->write("step.idle",
                            {reinterpret_cast<const char *>(&idle), 1}));
  }

  /// Returns the error of the first of its entry points that take rows.
  std::string problem(StringRef x, StringRef t) {
    Executable *executable =
        session->find(gathers ? "accumulate" : "step", x.size() / kInputs / 4);
    std::vector<TensorView> inputs = {{ElementType::F32, x},
                                      {ElementType::F32, t}};
    auto results = executable->run(inputs);
    if (!results)
      return toString(results.takeError());
    if (gathers)
      results = session->find("apply", 0)->run({});
    return results ? "" : toString(results.takeError());
  }

  /// Returns all that a checkpoint has, and what is derived from it. Every rank
  /// calls it.
  Bytes state() {
    WholeSession whole(*session, ranks.get());
    cantFail(whole.gather());
    Bytes all;
    for (const Variable &variable : whole.variables())
      if (variable.kind != VariableKind::Window) {
        std::string bytes(variable.type.bytes(), '\0');
        cantFail(whole.read(variable.name, {bytes.data(), bytes.size()}));
        all[variable.name] = bytes;
      }
    return all;
  }

private:
  std::shared_ptr<Communicator> ranks;
  std::unique_ptr<Session> session;
  bool gathers = false;
};

/// Ranks that run at the same time.
class Ranks {
public:
  Ranks(StringRef module, const CompileOptions &options, int64_t size,
        ArrayRef<int64_t> sizes, Device device = kCpu)
      : processes(size) {
    // Devices join while programs are loaded.
    std::vector<std::thread> threads;
    for (auto [process, rank] : zip_equal(processes, createThreadRanks(size))) {
      if (device.kind == Device::Kind::Cuda)
        device.index = rank->rank();
      threads.emplace_back([&, device, rank = std::move(rank)]() mutable {
        process = std::make_unique<Process>(module, options, std::move(rank),
                                            sizes, device);
      });
    }
    for (std::thread &thread : threads)
      thread.join();
  }

  /// Gives each rank its part of the rows: `sizes` are of all micro-batches.
  std::vector<Bytes> step(const Numbers &x, const Numbers &t,
                          ArrayRef<int64_t> sizes) {
    size_t share = divideCeil(sizes.size(), processes.size());
    std::vector<Bytes> results(processes.size());
    std::vector<std::thread> threads;
    int64_t first = 0;
    for (auto [rank, process] : enumerate(processes)) {
      ArrayRef<int64_t> own = sizes.slice(rank * share, share);
      threads.emplace_back([&, rank = rank, first, own] {
        results[rank] = processes[rank]->step(x, t, first, own);
      });
      for (int64_t size : own)
        first += size;
    }
    for (std::thread &thread : threads)
      thread.join();
    return results;
  }
  /// Returns the state as each rank gathers it.
  std::vector<Bytes> states() {
    std::vector<Bytes> all(processes.size());
    std::vector<std::thread> threads;
    for (auto [process, state] : zip_equal(processes, all))
      threads.emplace_back([&] { state = process->state(); });
    for (std::thread &thread : threads)
      thread.join();
    return all;
  }
  Process &operator[](size_t rank) { return *processes[rank]; }
  size_t size() const { return processes.size(); }

private:
  std::vector<std::unique_ptr<Process>> processes;
};

struct Case {
  std::string recipe = "";
  /// The row of a step that overflows in f16, or -1.
  std::vector<int64_t> overflows = {};
  bool shardOptimizer = false;
};

CompileOptions optionsOf(int64_t accumulate) {
  CompileOptions options;
  options.accumulate = accumulate;
  return options;
}

struct RandomRows {
  Numbers x, t;
  RandomRows(int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> draw(-1, 1);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t k = 0; k < kInputs; ++k)
        x.push_back(draw(random));
      t.push_back(draw(random));
    }
  }
};

/// Names what differs in any bit, on which rank.
void compare(ArrayRef<Bytes> found, const Bytes &expected, const Twine &when) {
  for (auto [rank, all] : enumerate(found)) {
    EXPECT_EQ(all.size(), expected.size());
    for (const auto &[name, bytes] : expected)
      if (auto own = all.find(name); own == all.end() || own->second != bytes)
        ADD_FAILURE() << name << " differs on rank " << rank << ", "
                      << when.str();
  }
}

/// Takes the same steps by one rank and by several, and compares their bits.
void check(const Case &test, ArrayRef<int64_t> sizes, Device device = kCpu) {
  std::string module = network(test.recipe);
  int64_t size = sizes.size(), rows = 0;
  for (int64_t each : sizes)
    rows += each;
  SmallVector<int64_t> different(sizes);
  llvm::sort(different);
  different.erase(llvm::unique(different), different.end());
  Process one(module, optionsOf(size), nullptr, different, device);
  CompileOptions options = optionsOf(size);
  options.shardOptimizer = test.shardOptimizer;
  Ranks several(module, options, size, different, device);
  compare(several.states(), one.state(), "begun");
  for (unsigned step = 0; step < 5; ++step) {
    RandomRows given(rows, step);
    if (step < test.overflows.size() && test.overflows[step] >= 0)
      given.x[test.overflows[step] * kInputs] = 1e5;
    Bytes expected = one.step(given.x, given.t, 0, sizes);
    auto found = several.step(given.x, given.t, sizes);
    compare(found, expected, "step " + Twine(step));
    compare(several.states(), one.state(), "after step " + Twine(step));
  }
}

const char *const kHalf = "autocast(<dtype = f16>) scaler(@scaler)";

TEST(DataParallel, TwoRanksAreTwoMicroBatches) { check({}, {4, 4}); }
TEST(DataParallel, ThreeRanksAreThree) { check({}, {4, 4, 4}); }
// Sums are made in the order of ranks, not in pairs.
TEST(DataParallel, FourRanksOfSevenRows) { check({}, {7, 7, 7, 7}); }
// The last batch of an epoch is smaller: ranks count by their rows.
TEST(DataParallel, TheLastRankHasFewerRows) { check({}, {5, 5, 3}); }
TEST(DataParallel, Bf16) { check({"autocast(<dtype = bf16>)"}, {4, 4, 4}); }

// One rank overflows, and all skip.
TEST(DataParallel, AnOverflowOnOneRankSkipsTheStepOfAll) {
  check({.recipe = kHalf, .overflows = {-1, 5, -1, 9}}, {4, 4, 4});
}

// The norm is that of the gradients of all rows.
TEST(DataParallel, GradientsAreClippedByTheNormOfAll) {
  check({.recipe = "attributes {clip_norm = 1.0e-2}"}, {4, 4, 4});
  check({.recipe = std::string(kHalf) + " attributes {clip_norm = 1.0e-2}",
         .overflows = {-1, -1, 2}},
        {4, 4});
}

// Each rank keeps its part of moments, of masters that the graph reads copies
// of, and of their averages. 48 and 8 elements do not divide by 5.
TEST(DataParallel, ADividedStateIsTheSameState) {
  for (std::string recipe : {"", "autocast(<dtype = bf16>)", kHalf})
    for (size_t ranks : {2, 5}) {
      SCOPED_TRACE(recipe);
      check({.recipe = recipe, .overflows = {-1, 5}, .shardOptimizer = true},
            std::vector<int64_t>(ranks, 4));
    }
}

// The last batch of an epoch may have no rows for some ranks, which take
// others' rows and give nothing, whatever these hold.
TEST(DataParallel, RanksWithoutRowsGiveNothing) {
  for (const char *recipe : {"", kHalf}) {
    std::string module = network(recipe);
    Process one(module, optionsOf(3), nullptr, {4});
    Ranks three(module, optionsOf(3), 3, {4});
    for (unsigned step = 0; step < 4; ++step) {
      RandomRows rows(12, step);
      bool isShort = step % 2 == 1;
      if (isShort)
        rows.x[9 * kInputs] = 1e5;
      three[2].setIdle(isShort);
      const int64_t all[] = {4, 4, 4};
      ArrayRef<int64_t> sizes = all;
      Bytes expected =
          one.step(rows.x, rows.t, 0, isShort ? sizes.drop_back() : sizes);
      auto found = three.step(rows.x, rows.t, sizes);
      for (size_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(found[rank], expected) << "rank " << rank << " step " << step;
        EXPECT_EQ(three[rank].state(), one.state());
      }
    }
  }
}

// On devices NCCL moves the bytes, and a kernel adds them in the same order.
TEST(DataParallel, TwoDevicesAreTwoMicroBatches) { check({}, {4, 4}, kCuda); }
TEST(DataParallel, DevicesDivideTheirState) {
  check({.recipe = kHalf, .overflows = {5}, .shardOptimizer = true}, {4, 4, 4},
        kCuda);
}
TEST(DataParallel, ThreeDevicesSkipTogether) {
  check({.recipe = std::string(kHalf) + " attributes {clip_norm = 1.0e-2}",
         .overflows = {-1, 5, -1, 9}},
        {4, 4, 3}, kCuda);
}

// Ranks that do not exchange the same fail, and do not wait for each other.
TEST(DataParallel, DevicesThatExchangeDifferentTensorsFail) {
  auto ranks = createThreadRanks(2);
  std::vector<std::string> problems(2);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      CompileOptions options = optionsOf(2);
      options.wire = rank ? "bf16" : "f16";
      std::string x(4 * kInputs * sizeof(float), '\0'), t(16, '\0');
      Device device = {Device::Kind::Cuda, static_cast<int>(rank)};
      Process process(network(kHalf), options, std::move(ranks[rank]), {4},
                      device);
      problems[rank] = process.problem(x, t);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &problem : problems)
    EXPECT_TRUE(StringRef(problem).contains("rank 0 starts ") &&
                StringRef(problem).contains(" f16 [") &&
                StringRef(problem).contains(", but rank 1 starts ") &&
                StringRef(problem).contains(" bf16 ["))
        << problem;
}

// The exchange of the last layer's gradients starts before those of the first
// layer are there, and nothing waits for it meanwhile.
TEST(DataParallel, KernelsRunWhileDevicesExchange) {
  CompileOptions options = optionsOf(2);
  options.batch = 4;
  options.ranks = 2;
  options.target = "cuda";
  options.arch = "sm_80";
  Program program = cantFail(compile(network(""), options));
  int64_t exchanges = 0, launches = 0, between = 0;
  for (const Entry &entry : program.entries)
    for (const Step &step : entry.steps) {
      if (const auto *call = std::get_if<Call>(&step)) {
        if (call->routine == "nccl.wait")
          between = std::max(between, launches);
        else if (call->routine != "nccl.rank")
          ++exchanges, launches = 0;
      }
      launches += std::holds_alternative<Launch>(step);
    }
  EXPECT_GT(exchanges, 0);
  EXPECT_GT(between, 0);
}

// Micro-batches on each rank are added up before they are exchanged, so sums
// are made in another order than one rank makes them.
TEST(DataParallel, RanksMayHaveMicroBatchesThemselves) {
  std::string module = network("");
  Process one(module, optionsOf(4), nullptr, {4});
  Ranks two(module, optionsOf(4), 2, {4});
  for (unsigned step = 0; step < 3; ++step) {
    RandomRows rows(16, step);
    Bytes expected = one.step(rows.x, rows.t, 0, {4, 4, 4, 4});
    auto found = two.step(rows.x, rows.t, {4, 4, 4, 4});
    EXPECT_EQ(found[0], found[1]);
    EXPECT_EQ(two[0].state(), two[1].state());
    Bytes state = two[0].state(), whole = one.state();
    EXPECT_EQ(state.at("batches"), whole.at("batches"));
    for (const char *name : {"w1", "g", "b1", "w2"})
      for (auto [a, b] :
           zip_equal(numbersOf(state.at(name)), numbersOf(whole.at(name))))
        EXPECT_NEAR(a, b, 1e-5) << name;
  }
}

// Batch norms over the rows of all ranks are those of one batch of these rows.
TEST(DataParallel, BatchNormsMayTakeTheRowsOfAllRanks) {
  std::string module = network("", /*dropout=*/0);
  CompileOptions options = optionsOf(3);
  options.batchNorm = "all";
  Process one(module, optionsOf(1), nullptr, {12});
  Ranks three(module, options, 3, {4}), apart(module, optionsOf(3), 3, {4});
  for (unsigned step = 0; step < 3; ++step) {
    RandomRows rows(12, step);
    Bytes expected = one.step(rows.x, rows.t, 0, {12});
    auto found = three.step(rows.x, rows.t, {4, 4, 4});
    auto others = apart.step(rows.x, rows.t, {4, 4, 4});
    EXPECT_EQ(found[0], found[2]);
    EXPECT_EQ(three[0].state(), three[2].state());
    EXPECT_NEAR(numbersOf(found[0].at("loss"))[0],
                numbersOf(expected.at("loss"))[0], 1e-5);
    EXPECT_GT(std::abs(numbersOf(others[0].at("loss"))[0] -
                       numbersOf(expected.at("loss"))[0]),
              1e-3);
    Bytes state = three[0].state(), whole = one.state();
    for (const char *name : {"w1", "g", "b1", "w2", "bn.mean", "bn.var"})
      for (auto [a, b] :
           zip_equal(numbersOf(state.at(name)), numbersOf(whole.at(name))))
        EXPECT_NEAR(a, b, 2e-5) << name << " step " << step;
  }
}

// In 16 bits gradients are rounded, but all ranks have the same.
TEST(DataParallel, GradientsMayTravelIn16Bits) {
  for (const char *wire : {"f16", "bf16"}) {
    std::string module = network(kHalf);
    CompileOptions options = optionsOf(3), narrow = options;
    narrow.wire = wire;
    Ranks wide(module, options, 3, {4}), rounded(module, narrow, 3, {4});
    for (unsigned step = 0; step < 4; ++step) {
      RandomRows rows(12, step);
      if (step == 2)
        rows.x[kInputs] = 1e5;
      auto expected = wide.step(rows.x, rows.t, {4, 4, 4});
      auto found = rounded.step(rows.x, rows.t, {4, 4, 4});
      EXPECT_EQ(found[0], found[1]);
      EXPECT_EQ(found[0], found[2]);
      EXPECT_EQ(found[0].at("skipped"), expected[0].at("skipped")) << step;
      EXPECT_EQ(rounded[0].state(), rounded[2].state());
      EXPECT_EQ(rounded[0].state().at("bn.mean").size(), 32u);
    }
  }
}

TEST(DataParallel, AProgramOfOtherRanksIsRefused) {
  SessionOptions options;
  auto session = cantFail(Session::create(options));
  CompileOptions compileOptions;
  compileOptions.batch = 4;
  compileOptions.ranks = 4;
  Program program = cantFail(compile(network(""), compileOptions));
  EXPECT_EQ(toString(session->load(program)),
            "the program is for 4 ranks, but this session has 1");
}

} // namespace
