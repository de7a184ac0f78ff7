//===- accumulate-test.cpp - micro-batches are one batch ------------------===//
//
// Whole steps, on the CPU and on the emulated device: rows taken in
// micro-batches against the same rows at once.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mp;
using namespace llvm;

namespace {

/// This must run before anything opens CUDA.
const bool emulated = [] {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
  return true;
}();

constexpr int64_t kInputs = 6;

/// Two layers with statistics between them, which every micro-batch updates.
std::string network(StringRef recipe) {
  return formatv(R"mlir(
    mp.variable @w1 : tensor<8x6xf32> = #mp.init<kaiming_uniform>
    mp.variable @b1 : tensor<8xf32> = #mp.init<zeros>
    mp.variable @w2 : tensor<1x8xf32> = #mp.init<kaiming_uniform>
    mp.variable buffer @running : tensor<8xf32> = #mp.init<zeros>
    func.func @loss(%x: tensor<?x6xf32> {{mp.name = "x"}, %t: tensor<?x1xf32> {{mp.name = "t"})
        -> (tensor<f32> {{mp.name = "loss"}, tensor<?x1xf32>) {{
      %w1 = mp.read @w1 : tensor<8x6xf32>
      %b1 = mp.read @b1 : tensor<8xf32>
      %h = mp.linear %x, %w1, %b1 : tensor<?x6xf32>, tensor<8x6xf32>, tensor<8xf32>
      %still = mp.stop_gradient %h : tensor<?x8xf32>
      %mean = mp.mean %still dims[0] : tensor<?x8xf32>
      %old = mp.read @running : tensor<8xf32>
      %half = mp.constant dense<0.5> : tensor<f32>
      %sum = mp.add %old, %mean : tensor<8xf32>, tensor<8xf32>
      %new = mp.mul %sum, %half : tensor<8xf32>, tensor<f32>
      mp.write @running, %new : tensor<8xf32>
      %a = mp.tanh %h : tensor<?x8xf32>
      %w2 = mp.read @w2 : tensor<1x8xf32>
      %y = mp.linear %a, %w2 : tensor<?x8xf32>, tensor<1x8xf32>
      %d = mp.sub %y, %t : tensor<?x1xf32>, tensor<?x1xf32>
      %s = mp.mul %d, %d : tensor<?x1xf32>, tensor<?x1xf32>
      %l = mp.mean %s dims[0, 1] : tensor<?x1xf32>
      return %l, %y : tensor<f32>, tensor<?x1xf32>
    }
    mp.scaler @scaler {{init_scale = 1024.0, growth_interval = 3}
    mp.train @step of @loss {0} {{
      mp.minimize result(0) {{optimizer = #mp.sgd<lr = 5.0e-2, momentum = 9.0e-1>}
    })mlir",
                 recipe)
      .str();
}

const StringRef kHalf = "autocast(<dtype = f16>) scaler(@scaler)";

struct Rows {
  Numbers x, t;
};

Rows randomRows(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> draw(-1, 1);
  Rows rows;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < kInputs; ++k)
      rows.x.push_back(draw(random));
    rows.t.push_back(draw(random));
  }
  return rows;
}

class Windows {
public:
  /// Compiles for micro-batches of each of these sizes.
  Windows(StringRef module, int64_t accumulate, ArrayRef<int64_t> sizes,
          Device device = {})
      : gathers(accumulate > 1) {
    SessionOptions options;
    options.threads = 1;
    options.device = device;
    session = cantFail(Session::create(options));
    for (int64_t size : sizes) {
      CompileOptions compileOptions;
      compileOptions.batch = size;
      compileOptions.accumulate = accumulate;
      compileOptions.target = session->target().str();
      compileOptions.arch = session->arch();
      Program program = cantFail(compile(module, compileOptions));
      EXPECT_EQ(program.accumulate, accumulate);
      cantFail(session->load(std::move(program)));
    }
    cantFail(session->initialize(/*seed=*/3));
  }

  /// Runs one step on rows taken in micro-batches of these sizes; returns its
  /// results.
  std::map<std::string, double> step(const Rows &rows,
                                     ArrayRef<int64_t> sizes) {
    const Executable *last = nullptr;
    Executable::Results results;
    auto run = [&](StringRef function, int64_t batch, int64_t first) {
      Executable *executable = session->find(function, batch);
      auto part = [&](const Numbers &all, int64_t width) {
        auto begin = all.begin() + first * width;
        return pack({begin, begin + batch * width}, ElementType::F32);
      };
      std::string x = part(rows.x, kInputs), t = part(rows.t, 1);
      std::vector<TensorView> inputs;
      if (batch)
        inputs = {{ElementType::F32, x}, {ElementType::F32, t}};
      results = cantFail(executable->run(inputs));
      last = executable;
    };
    int64_t first = 0;
    for (int64_t size : sizes) {
      run(gathers ? "accumulate" : "step", size, first);
      first += size;
    }
    if (gathers)
      run("apply", 0, 0);
    std::map<std::string, double> named;
    for (auto [index, result] : enumerate(last->entry().results))
      if (!result.name.empty())
        named[result.name] = unpack(results[index].data(), result.type)[0];
    return named;
  }

  Numbers read(StringRef name) {
    for (const Variable &variable : session->variables())
      if (variable.name == name) {
        std::string bytes(variable.type.bytes(), '\0');
        cantFail(session->read(name, {bytes.data(), bytes.size()}));
        return unpack(bytes.data(), variable.type);
      }
    reportFatalUsageError("no variable " + name);
  }
  /// Returns everything in a checkpoint that skipped step attempts leave
  /// unchanged.
  std::map<std::string, Numbers> applied() {
    std::map<std::string, Numbers> all;
    for (const Variable &variable : session->variables())
      if (variable.kind != VariableKind::Window &&
          variable.kind != VariableKind::Scaler &&
          variable.kind != VariableKind::Attempt)
        all[variable.name] = read(variable.name);
    return all;
  }

private:
  bool gathers;
  std::unique_ptr<Session> session;
};

void expectNear(const Numbers &one, const Numbers &other, double tolerance) {
  ASSERT_EQ(one.size(), other.size());
  for (size_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(one[i], other[i], tolerance) << i;
}

const Device kCpu = {}, kCuda = {Device::Kind::Cuda, 0};

/// In f32 the parameters differ by roundings of sums: a few units of 2^-24.
void checkOneBatch(Device device, ArrayRef<int64_t> sizes,
                   ArrayRef<int64_t> different) {
  Windows whole(network(""), 1, {64}, device);
  Windows parts(network(""), sizes.size(), different, device);
  for (unsigned step = 0; step < 4; ++step) {
    Rows rows = randomRows(64, step);
    auto expected = whole.step(rows, {64}), found = parts.step(rows, sizes);
    EXPECT_NEAR(found.at("loss"), expected.at("loss"), 1e-6);
    EXPECT_NEAR(found.at("grad_norm"), expected.at("grad_norm"), 1e-6);
    EXPECT_EQ(found.at("lr"), expected.at("lr"));
    for (const char *name : {"w1", "b1", "w2", "w1.momentum_buffer"})
      expectNear(parts.read(name), whole.read(name), 1e-6);
  }
  EXPECT_EQ(parts.read("step.applied"), Numbers{4});
  EXPECT_EQ(parts.read("step.attempted"), Numbers{4});
  EXPECT_EQ(parts.read("step.micro"), Numbers{0});
}

TEST(Accumulate, FourTimes16RowsAre64) {
  checkOneBatch(kCpu, {16, 16, 16, 16}, {16});
}
TEST(Accumulate, FourTimes16RowsAre64OnTheDevice) {
  checkOneBatch(kCuda, {16, 16, 16, 16}, {16});
}
// The last micro-batch of an epoch is smaller: micro-batches count by their
// rows.
TEST(Accumulate, ASmallerMicroBatchCountsLess) {
  checkOneBatch(kCpu, {24, 24, 16}, {24, 16});
}
// The first micro-batch may be the only one.
TEST(Accumulate, AWindowMayBeShort) {
  Windows whole(network(""), 1, {16});
  Windows parts(network(""), 4, {16});
  for (unsigned step = 0; step < 3; ++step) {
    Rows rows = randomRows(16, step);
    whole.step(rows, {16});
    parts.step(rows, {16});
    EXPECT_EQ(whole.read("w1"), parts.read("w1"));
  }
}

/// Every micro-batch finds the statistics that the one before left.
TEST(Accumulate, StatisticsFollowEachMicroBatch) {
  Windows parts(network(""), 2, {2});
  Numbers w1 = parts.read("w1"), expected(8);
  Rows rows = randomRows(4, 1);
  for (int64_t micro = 0; micro < 2; ++micro)
    for (int64_t unit = 0; unit < 8; ++unit) {
      double mean = 0;
      for (int64_t row = 2 * micro; row < 2 * micro + 2; ++row)
        for (int64_t k = 0; k < kInputs; ++k)
          mean += rows.x[row * kInputs + k] * w1[unit * kInputs + k] / 2;
      expected[unit] = (expected[unit] + mean) / 2;
    }
  parts.step(rows, {2, 2});
  expectNear(parts.read("running"), expected, 1e-6);
}

/// An overflow in the third of four micro-batches: the window is skipped as a
/// whole, and the scale backs off once.
void checkOverflow(Device device) {
  Windows whole(network(kHalf), 1, {64}, device);
  Windows parts(network(kHalf), 4, {16}, device);
  double scale = 1024;
  for (unsigned step = 0; step < 6; ++step) {
    Rows rows = randomRows(64, step);
    bool overflows = step == 1 || step == 3;
    if (overflows)
      rows.x[40 * kInputs] = 1e5; // infinite in f16
    auto before = parts.applied();
    auto expected = whole.step(rows, {64});
    auto found = parts.step(rows, {16, 16, 16, 16});
    EXPECT_EQ(found.at("scale"), scale) << step;
    EXPECT_EQ(expected.at("scale"), scale) << step;
    EXPECT_EQ(found.at("skipped"), overflows) << step;
    EXPECT_EQ(expected.at("skipped"), overflows) << step;
    scale *= overflows ? 0.5 : 1;
    EXPECT_EQ(parts.read("scaler.scale"), whole.read("scaler.scale"));
    EXPECT_EQ(parts.read("scaler.growth_tracker"),
              whole.read("scaler.growth_tracker"));
    if (overflows)
      EXPECT_EQ(parts.applied(), before) << step;
    else
      EXPECT_NE(parts.applied(), before) << step;
    // Gradients of f16 have 11 bits.
    for (const char *name : {"w1", "b1", "w2"})
      expectNear(parts.read(name), whole.read(name), 2e-3);
  }
  EXPECT_EQ(parts.read("step.applied"), Numbers{4});
  EXPECT_EQ(parts.read("step.attempted"), Numbers{6});
}

TEST(Accumulate, AnOverflowSkipsTheWholeWindow) { checkOverflow(kCpu); }
TEST(Accumulate, AnOverflowSkipsTheWholeWindowOnTheDevice) {
  checkOverflow(kCuda);
}

} // namespace
