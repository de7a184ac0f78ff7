//===- session-test.cpp - loading and running Programs --------------------===//
#include "IrObject.h"
#include "TestFiles.h"
#include "runtime/Session.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace mp;
using Space = BufferRef::Space;

namespace {

constexpr BufferRef arena(uint64_t offset) { return {Space::Arena, 0, offset}; }
constexpr BufferRef variable(uint32_t index) {
  return {Space::Variable, index, 0};
}
constexpr BufferRef input(uint32_t index) { return {Space::Staging, index, 0}; }

TensorType f32(std::vector<int64_t> shape) {
  return {ElementType::F32, std::move(shape)};
}

Kernel kernel(const char *symbol, unsigned arguments, llvm::StringRef body) {
  return {symbol,
          "",
          test::objectOf(test::kernelIr(symbol, arguments, body)),
          {},
          symbol};
}

/// p1[i] = p0[i] + p0[i]
Kernel twice() {
  return kernel("k_twice", 2,
                "  %q0 = getelementptr float, ptr %p0, i64 %i\n"
                "  %q1 = getelementptr float, ptr %p1, i64 %i\n"
                "  %x = load float, ptr %q0\n"
                "  %y = fadd float %x, %x\n"
                "  store float %y, ptr %q1\n");
}

/// p1[i] = expf(p0[i]), by way of the scratch
Kernel exponential() {
  return kernel("k_exp", 2,
                "  %q0 = getelementptr float, ptr %p0, i64 %i\n"
                "  %q1 = getelementptr float, ptr %p1, i64 %i\n"
                "  %x = load float, ptr %q0\n"
                "  store volatile float %x, ptr %shared\n"
                "  %x1 = load volatile float, ptr %shared\n"
                "  %y = call float @expf(float %x1)\n"
                "  store float %y, ptr %q1\n");
}

constexpr int64_t size = 1000;

Entry entry(const char *function, std::vector<Step> steps) {
  Entry entry;
  entry.function = function;
  entry.inputs = {{"x", f32({size}), std::nullopt, std::nullopt, {}}};
  entry.results = {{"y", f32({size}), arena(8192)}};
  entry.arenaBytes = 16384;
  entry.steps = std::move(steps);
  return entry;
}

/// y = exp(2 x)
Program program() {
  Program program;
  program.target = "cpu";
  program.kernels = {twice(), exponential()};
  program.entries = {
      entry("main", {Launch{0, size, 64, 0, false, {input(0), arena(0)}},
                     Launch{1, size, 7, 4, false, {arena(0), arena(8192)}}})};
  return program;
}

std::unique_ptr<Session> session(unsigned threads = 2) {
  return llvm::cantFail(Session::create({threads}));
}

std::string problem(llvm::Error error) {
  return llvm::toString(std::move(error));
}

std::vector<float> ramp() {
  std::vector<float> values(size);
  for (int64_t i = 0; i < size; ++i)
    values[i] = i * 0.001f;
  return values;
}

const float *run(Session &session, const char *function,
                 const std::vector<float> &x) {
  Executable *executable = session.find(function, 0);
  auto results = llvm::cantFail(executable->run({x}));
  return static_cast<const float *>(results[0].data());
}

TEST(Session, RunsKernelsAndLibm) {
  std::vector<float> x = ramp();
  for (unsigned threads : {1, 2, 5}) {
    auto runner = session(threads);
    EXPECT_HAS(runner->describe(), std::to_string(threads) + " threads");
    ASSERT_EQ(problem(runner->load(program())), "");
    const float *y = run(*runner, "main", x);
    for (int64_t i = 0; i < size; ++i)
      ASSERT_EQ(y[i], expf(x[i] + x[i])) << i;
  }
}

TEST(Session, RunsAProgramReadFromText) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(program(), os);
  auto runner = session();
  ASSERT_EQ(problem(runner->load(llvm::cantFail(parseProgram(text)))), "");
  std::vector<float> x = ramp();
  EXPECT_EQ(run(*runner, "main", x)[5], expf(x[5] + x[5]));
}

TEST(Session, ReadsInputsWhereTheyLieInEveryRun) {
  auto runner = session();
  ASSERT_EQ(problem(runner->load(program())), "");
  std::vector<float> zeros(size), ones(size, 1.0f);
  EXPECT_EQ(run(*runner, "main", zeros)[3], 1.0f);
  EXPECT_EQ(run(*runner, "main", ones)[3], expf(2.0f));
  EXPECT_EQ(run(*runner, "main", zeros)[3], 1.0f);
}

TEST(Session, ResultsOutliveLoadingALargerProgram) {
  auto runner = session();
  ASSERT_EQ(problem(runner->load(program())), "");
  const float *y = run(*runner, "main", ramp());
  Program larger;
  larger.target = "cpu";
  larger.kernels = {twice()}; // already known
  larger.entries = {entry(
      "large", {Launch{0, size, 64, 0, false, {input(0), arena(1 << 24)}},
                Copy{arena(8192), arena(1 << 24), size * 4, std::nullopt}})};
  larger.entries[0].arenaBytes = (1 << 24) + 4096;
  ASSERT_EQ(problem(runner->load(larger)), "");
  EXPECT_EQ(y[5], expf(2 * ramp()[5]));
  EXPECT_EQ(llvm::cantFail(runner->find("main", 0)->results(0))[0].data(), y);
  EXPECT_EQ(run(*runner, "large", ramp())[5], 2 * ramp()[5]);
  EXPECT_EQ(run(*runner, "main", ramp())[5], expf(2 * ramp()[5]));
  EXPECT_EQ(runner->plannedBytes(), uint64_t(1 << 24) + 4096);
}

Variable declared(const char *name, VariableKind kind, TensorType type,
                  Initializer init) {
  return {name, kind, std::move(type), init, {"net.mlir", 2, 3}};
}

/// w uniform in [1, 2), d = 2 w by `derive`; `step` doubles w if the flag is
/// set, and reads w and the constant.
Program stateful() {
  Program program;
  program.target = "cpu";
  program.variables = {declared("w", VariableKind::Parameter, f32({size}),
                                {Initializer::Kind::Uniform, 1, 2}),
                       declared("d", VariableKind::Derived, f32({size}),
                                {Initializer::Kind::Derived}),
                       declared("n", VariableKind::Attempt,
                                {ElementType::I64, {}},
                                {Initializer::Kind::Constant, 7})};
  program.kernels = {twice()};
  Entry derive;
  derive.function = "derive";
  derive.steps = {Launch{0, size, 64, 0, false, {variable(0), variable(1)}}};
  Entry step;
  step.function = "step";
  step.inputs = {{"ok", {ElementType::I1, {}}, std::nullopt, std::nullopt, {}}};
  step.arenaBytes = size * 4;
  step.steps = {Launch{0, size, size, 0, false, {variable(0), arena(0)}},
                Copy{variable(0), arena(0), size * 4, input(0)}};
  step.results = {{"w", f32({size}), variable(0)},
                  {"c", f32({2}), {Space::Constant, 0, 4}},
                  {"ok", {ElementType::I1, {}}, input(0)}};
  float numbers[] = {1, 2, 3};
  program.constants = {
      {f32({3}), std::string(reinterpret_cast<char *>(numbers), 12)}};
  program.entries = {derive, step};
  return program;
}

std::vector<float> floats(Session &session, llvm::StringRef name) {
  std::vector<float> values(size);
  llvm::cantFail(session.read(
      name, {reinterpret_cast<char *>(values.data()), size * sizeof(float)}));
  return values;
}

TEST(Session, InitializesAndDerives) {
  auto one = session(1), two = session(2);
  for (Session *runner : {one.get(), two.get()}) {
    ASSERT_EQ(problem(runner->load(stateful())), "");
    ASSERT_EQ(problem(runner->initialize(3)), "");
    std::vector<float> w = floats(*runner, "w"), d = floats(*runner, "d");
    for (int64_t i = 0; i < size; ++i)
      ASSERT_EQ(d[i], 2 * w[i]);
    int64_t n;
    llvm::cantFail(runner->read("n", {reinterpret_cast<char *>(&n), 8}));
    EXPECT_EQ(n, 7);
  }
  EXPECT_EQ(floats(*one, "w"), floats(*two, "w"));
  EXPECT_NE(floats(*one, "w")[0], floats(*one, "w")[1]);
}

TEST(Session, CopiesWhereTheFlagIsSet) {
  auto runner = session();
  ASSERT_EQ(problem(runner->load(stateful())), "");
  ASSERT_EQ(problem(runner->initialize(3)), "");
  float before = floats(*runner, "w")[9];
  Executable *step = runner->find("step", 0);
  std::array<bool, 1> no = {false}, yes = {true};
  (void)llvm::cantFail(step->run({no}));
  EXPECT_EQ(floats(*runner, "w")[9], before);
  auto results = llvm::cantFail(step->run({yes}));
  EXPECT_EQ(floats(*runner, "w")[9], 2 * before);
  EXPECT_EQ(results[0].floats()[9], 2 * before);
  EXPECT_EQ(results[1].floats()[0], 2.0f);
  EXPECT_EQ(results[2].data(), yes.data());
}

TEST(Session, KeepsTheResultsOfTheLastRun) {
  auto runner = session();
  ASSERT_EQ(problem(runner->load(program())), "");
  EXPECT_EQ(runner->stepsInFlight(), 1u);
  Executable *main = runner->find("main", 0);
  std::vector<float> x = ramp();
  EXPECT_EQ(llvm::cantFail(main->submit({x})), 0u);
  EXPECT_EQ(llvm::cantFail(main->submit({x})), 1u);
  EXPECT_EQ(problem(main->results(0).takeError()),
            "'main': the results of run 0 are not kept, only those of the "
            "last");
  EXPECT_EQ(llvm::cantFail(main->results(1))[0].floats()[3], expf(2 * x[3]));
}

TEST(Session, ReadsAndWritesVariables) {
  auto runner = session();
  ASSERT_EQ(problem(runner->load(stateful())), "");
  int64_t written = 5, n = 0;
  llvm::MutableArrayRef<char> bytes(reinterpret_cast<char *>(&n), 8);
  ASSERT_EQ(problem(runner->write(
                "n", {reinterpret_cast<const char *>(&written), 8})),
            "");
  ASSERT_EQ(problem(runner->read("n", bytes)), "");
  EXPECT_EQ(n, 5);
  EXPECT_EQ(problem(runner->read("w", bytes)),
            "variable 'w' of type 1000xf32 takes 4000 bytes, not 8");
  EXPECT_EQ(problem(runner->write("absent", bytes)),
            "no variable 'absent' (known: 'w', 'd', 'n')");
  EXPECT_EQ(runner->find("step", 5), nullptr);
  // 4000 bytes twice and 8, each rounded up to 64, and the arena.
  EXPECT_EQ(runner->plannedBytes(), 4032u + 4032u + 64u + 4000u);
}

TEST(Session, ViewsVariablesWithoutACopy) {
  auto runner = session();
  ASSERT_EQ(problem(runner->load(stateful())), "");
  ASSERT_EQ(problem(runner->initialize(3)), "");
  std::vector<float> w = floats(*runner, "w");
  const Variable &first = runner->variables()[0];
  const void *places[2] = {};
  for (const void *&place : places)
    ASSERT_EQ(problem(runner->view(
                  first,
                  [&](llvm::ArrayRef<char> bytes) {
                    place = bytes.data();
                    ASSERT_EQ(bytes.size(), size * 4u);
                    EXPECT_EQ(std::memcmp(bytes.data(), w.data(), size * 4), 0);
                  })),
              "");
  EXPECT_EQ(places[0], places[1]);
  Variable absent = first;
  absent.name = "absent";
  auto never = [](llvm::ArrayRef<char>) { FAIL(); };
  EXPECT_EQ(problem(runner->view(absent, never)),
            "no variable 'absent' (known: 'w', 'd', 'n')");
}

TEST(Session, ProgramsShareVariablesByName) {
  auto runner = session();
  ASSERT_EQ(problem(runner->load(stateful())), "");
  ASSERT_EQ(problem(runner->initialize(3)), "");
  std::vector<float> before = floats(*runner, "w");
  ASSERT_EQ(problem(runner->load(stateful())), "");
  EXPECT_EQ(floats(*runner, "w"), before);
  EXPECT_EQ(runner->variables().size(), 3u);
}

TEST(Session, RefusesVariablesThatDisagree) {
  auto runner = session();
  ASSERT_EQ(problem(runner->load(stateful())), "");
  Program other = stateful();
  other.variables[0].type = f32({size, 1});
  EXPECT_EQ(problem(runner->load(other)),
            "net.mlir:2:3: variable 'w' is a parameter of type 1000x1xf32, but "
            "was loaded as a parameter of type 1000xf32");
  other = stateful();
  other.variables[0].init.b = 3;
  EXPECT_EQ(problem(runner->load(other)),
            "net.mlir:2:3: variable 'w' is a parameter of type 1000xf32 with "
            "another initializer, but was loaded as a parameter of type "
            "1000xf32");
  other = stateful();
  other.variables[0].dimsInFiles = {0};
  EXPECT_EQ(problem(runner->load(other)),
            "net.mlir:2:3: variable 'w' is a parameter of type 1000xf32 with "
            "another order of dimensions in files, but was loaded as a "
            "parameter of type 1000xf32");
}

TEST(Session, RefusesKernelsThatCannotRunHere) {
  auto runner = session();
  Program program = stateful();
  program.kernels[0].features = "+sse2,magic-unit";
  EXPECT_EQ(
      llvm::StringRef(problem(runner->load(program))).take_until([](char c) {
        return c == ',';
      }),
      "kernel 'k_twice' (k_twice) needs the CPU feature 'magic-unit'");
  program.kernels[0].features = "+sse2,-magic-unit";
  EXPECT_EQ(problem(runner->load(program)), "");
}

TEST(Session, RefusesKernelsThatDoNotLink) {
  auto runner = session();
  Program program = stateful();
  program.kernels[0].code = "";
  EXPECT_EQ(problem(runner->load(program)),
            "kernel 'k_twice' (k_twice) has no code");
  program.kernels[0].code = "no object";
  EXPECT_NE(problem(runner->load(program)), "");
  program.kernels[0].code =
      test::objectOf("declare void @mp_absent()\n"
                     "define void @k_twice(ptr %a, i64 %b, i64 %e, ptr %s) {\n"
                     "  call void @mp_absent()\n  ret void\n}\n");
  EXPECT_NE(problem(runner->load(program)).find("mp_absent"),
            std::string::npos);
  // None of these left any state.
  EXPECT_EQ(problem(runner->load(stateful())), "");
  EXPECT_EQ(problem(runner->initialize(1)), "");
}

TEST(Session, RefusesWhatItDoesNotKnow) {
  auto runner = session();
  Program program = stateful();
  program.target = "cuda";
  EXPECT_EQ(problem(runner->load(program)),
            "the program is for target 'cuda', but this session runs 'cpu'");
  program = stateful();
  program.entries[0].steps.push_back(Call{"blas.axpy", {}, 1, 1, {}});
  EXPECT_TRUE(llvm::StringRef(problem(runner->load(program)))
                  .starts_with("unknown routine 'blas.axpy'; known: dnnl."));
  program = stateful();
  program.entries[1].arenaBytes = uint64_t(1) << 62;
  std::string tooLarge = problem(runner->load(program));
  EXPECT_TRUE(
      llvm::StringRef(tooLarge).starts_with("'step' does not fit into memory"))
      << tooLarge;
  EXPECT_EQ(runner->find("step", 0), nullptr);
}

// Ranks keep a part of a master whose copy evaluation reads.
TEST(Session, ProgramsDeclareTheWholeOfAPartButDoNotUseIt) {
  auto runner = session();
  Program parts = stateful();
  parts.variables[0].whole = f32({2, size / 2});
  ASSERT_EQ(problem(runner->load(parts)), "");
  ASSERT_EQ(problem(runner->initialize(1)), "");
  std::vector<float> derived = floats(*runner, "d");

  Program wholes = stateful();
  wholes.variables[0].type = f32({2, size / 2});
  EXPECT_EQ(problem(runner->load(wholes)),
            "'step' needs the whole of variable 'w', of which each rank has a "
            "part: train without dividing the state of the optimizer");
  // What only computes the copy anew is left to the program that has the part.
  wholes.entries[1].steps = {
      Copy{arena(0), variable(1), size * sizeof(float), {}}};
  wholes.entries[1].results = {};
  wholes.entries[1].function = "eval";
  ASSERT_EQ(problem(runner->load(wholes)), "");
  EXPECT_NE(runner->find("eval", 0), nullptr);
  ASSERT_EQ(problem(runner->derive()), "");
  EXPECT_EQ(floats(*runner, "d"), derived);

  auto reversed = session();
  wholes = stateful();
  wholes.variables[0].type = f32({2, size / 2});
  ASSERT_EQ(problem(reversed->load(wholes)), "");
  EXPECT_NE(problem(reversed->load(parts)).find("was loaded as a parameter"),
            std::string::npos);
}

TEST(Session, InitializeNamesTheVariable) {
  auto runner = session();
  Program program = stateful();
  program.variables[2].init.a = 0.5;
  ASSERT_EQ(problem(runner->load(program)), "");
  EXPECT_EQ(problem(runner->initialize(1)),
            "net.mlir:2:3: variable 'n' of type i64 cannot hold 0.5");
}

} // namespace
