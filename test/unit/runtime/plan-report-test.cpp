//===- plan-report-test.cpp - the memory plan in words --------------------===//
//
// The memory plan as it is reported, compared with the memory that the process
// takes.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "codegen/Compile.h"
#include "runtime/Session.h"
#include "runtime/report/PlanReport.h"
#include "llvm/Support/JSON.h"

using namespace mp;
using namespace mp::test;

namespace {

Variable variable(const char *name, VariableKind kind, ElementType element,
                  int64_t count) {
  Variable variable;
  variable.name = name;
  variable.kind = kind;
  variable.type = {element, {count}};
  return variable;
}

Program program() {
  Program program;
  program.module = "net";
  program.target = "cpu";
  program.arch = "znver4";
  program.precision = "bf16";
  program.variables = {
      variable("w", VariableKind::Parameter, ElementType::F32, 1024),
      variable("w.bf16", VariableKind::Derived, ElementType::BF16, 1024),
      variable("w.exp_avg", VariableKind::Slot, ElementType::F32, 1024),
      variable("b", VariableKind::Parameter, ElementType::F32, 16),
      variable("scale", VariableKind::Scaler, ElementType::F32, 1),
      variable("w.sum", VariableKind::Window, ElementType::F32, 512)};
  program.kernels.push_back({"k_1", "", "", {{"net.mlir", 7, 3}}, "relu"});
  program.kernels.push_back({"k_2", "", "", {}, "sum"});
  Entry entry;
  entry.function = "step";
  entry.inputs = {{"x", {ElementType::F32, {100}}, {}, {}, {}}};
  entry.steps = {Launch{0, 1, 1, 100, false, {}},
                 Launch{1, 1, 1, 5000, false, {}},
                 Launch{0, 1, 1, 0, false, {}}};
  entry.buffers = {{0, 640, 0, 1, {"net.mlir", 5, 3}, "linear"},
                   {640, 6400, 1, 2, {"net.mlir", 6, 3}, "gelu"},
                   {7040, 128, 2, 2, {}, "temporary"}};
  entry.arenaBytes = 7168;
  program.entries = {Entry(), std::move(entry)};
  return program;
}

TEST(PlanReport, SortsWhatThereIs) {
  PlanReport report = reportPlan(program(), /*threads=*/3);
  EXPECT_EQ(report.bytes("masters"), 4096u);
  EXPECT_EQ(report.bytes("weights"), 64u);
  EXPECT_EQ(report.bytes("derived"), 2048u);
  EXPECT_EQ(report.bytes("slots"), 4096u);
  EXPECT_EQ(report.bytes("scaler"), 64u);
  EXPECT_EQ(report.bytes("windows"), 2048u);
  EXPECT_EQ(report.bytes("activations"), 7168u);
  EXPECT_EQ(report.bytes("workspace"), 3 * 8192u);
  EXPECT_EQ(report.bytes("staging"), 2 * 448u);
  EXPECT_EQ(report.total(),
            4096u + 64 + 2048 + 4096 + 64 + 2048 + 7168 + 24576 + 896);
}

TEST(PlanReport, FindsThePeak) {
  PlanReport::Peak peak = reportPlan(program(), 1).peak;
  EXPECT_EQ(peak.function, "step");
  EXPECT_EQ(peak.step, 1u);
  EXPECT_EQ(peak.bytes, 7040u);
  EXPECT_EQ(peak.summary, "sum");
  // The kernel has no place in the file, but its result has.
  EXPECT_EQ(peak.location.str(), "net.mlir:6:3");
  ASSERT_EQ(peak.alive.size(), 2u);
  EXPECT_EQ(peak.alive[0].summary, "gelu");
}

TEST(PlanReport, IsATable) {
  std::string text = toText(reportPlan(program(), 1), /*most=*/1);
  EXPECT_HAS(text, "net on cpu (znver4), bf16\n");
  EXPECT_HAS(text, "  masters           4.0 KiB  1 tensors: parameters in f32 "
                   "with a 16-bit copy\n");
  EXPECT_HAS(text, "peak of the arena: 6.9 KiB in step 2 of 3 of 'step', sum "
                   "(net.mlir:6:3)\n");
  EXPECT_HAS(text, "gelu (net.mlir:6:3), steps 2 to 3\n");
  EXPECT_HAS(text, "  and 1 smaller ones\n");
  auto value =
      llvm::cantFail(llvm::json::parse(toJson(reportPlan(program(), 1))));
  EXPECT_EQ(value.getAsObject()->getObject("bytes")->getInteger("slots"), 4096);
  EXPECT_EQ(value.getAsObject()->getObject("notes")->getString("slots"),
            "state of the optimizer");
}

TEST(PlanReport, OfNothing) {
  EXPECT_EQ(reportPlan(Program(), 1).total(), 0u);
  EXPECT_EQ(toText(reportPlan(Program(), 1)),
            " on  ()\n  total                 "
            "0 B\n");
}

/// A field of /proc/self/status, in bytes.
uint64_t statusOf(const std::string &field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field + ":", 0) == 0)
      return std::stoull(line.substr(field.size() + 1)) * 1024;
  return 0;
}

constexpr char net[] = R"(
module @net {
  mp.variable @w1 : tensor<2048x2048xf32> = #mp.init<kaiming_uniform>
  mp.variable @w2 : tensor<1024x2048xf32> = #mp.init<kaiming_uniform>
  func.func @loss(%x: tensor<?x2048xf32> {mp.name = "x"}, %y: tensor<?xi64> {mp.name = "y"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %w1 = mp.read @w1 : tensor<2048x2048xf32>
    %h = mp.linear %x, %w1 : tensor<?x2048xf32>, tensor<2048x2048xf32>
    %a = mp.gelu %h : tensor<?x2048xf32>
    %w2 = mp.read @w2 : tensor<1024x2048xf32>
    %z = mp.linear %a, %w2 : tensor<?x2048xf32>, tensor<1024x2048xf32>
    %l = mp.cross_entropy %z, %y : tensor<?x1024xf32>, tensor<?xi64>
    return %l : tensor<f32>
  }
  mp.train @step of @loss autocast(<dtype = bf16>) {
    mp.minimize result(0) {optimizer = #mp.adamw<lr = 1.0e-3>}
  }
})";

/// The additional memory of the process, once it has the session and has run
/// steps, is the plan within a few allocations' roundings to huge pages.
TEST(PlanReport, IsWhatTheProcessTakes) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's own memory is many times as much";
#endif
#endif
  constexpr int64_t batch = 256;
  CompileOptions options;
  options.batch = batch;
  options.totalSteps = 10;
  Program program = llvm::cantFail(compile(net, options));
  PlanReport report = reportPlan(program, /*threads=*/2);
  ASSERT_GT(report.total(), uint64_t(80) << 20);
  // Inputs come first, as they are not part of the comparison.
  std::vector<float> x(batch * 2048, 0.5f);
  std::vector<int64_t> y(batch, 3);
  // The peak so far is the compiler's, so it is reset.
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  uint64_t before = statusOf("VmRSS");
  if (statusOf("VmHWM") > before + (uint64_t(4) << 20))
    GTEST_SKIP() << "the peak of this process cannot be reset";
  SessionOptions sessionOptions;
  sessionOptions.threads = 2;
  auto session = llvm::cantFail(Session::create(sessionOptions));
  llvm::cantFail(session->load(std::move(program)));
  llvm::cantFail(session->initialize(/*seed=*/0));
  for (int step = 0; step < 3; ++step)
    (void)llvm::cantFail(session->find("step", batch)->run({x, y}));
  uint64_t grown = statusOf("VmHWM") - before;
  uint64_t planned = report.total() - report.bytes("staging");
  // The plan of state and arena is the session's own.
  EXPECT_NEAR(
      double(session->plannedBytes()),
      double(planned - report.bytes("workspace") - report.bytes("constants")),
      64.0 * 100);
  // The linker and the threads take some megabytes; huge pages round up.
  constexpr double slack = 16 << 20;
  EXPECT_NEAR(double(grown), double(planned), slack)
      << "planned " << planned << ", grown " << grown;
}

} // namespace
