//===- cuda-session-test.cpp - a Session on the emulator ------------------===//
//
// A Session on the emulated device: the whole runtime, without a GPU.
//
//===----------------------------------------------------------------------===//
#include "ChildProcess.h"
#include "CudaPrograms.h"
#include "runtime/Session.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mp;
using namespace mp::test;

namespace {

/// This must run before anything opens CUDA.
const bool emulated = [] {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
  return true;
}();

std::unique_ptr<Session> session() {
  SessionOptions options;
  options.device = {Device::Kind::Cuda, 0};
  return llvm::cantFail(Session::create(options));
}

std::vector<float> floats(Session &session, llvm::StringRef name) {
  std::vector<float> values(cudaSize);
  llvm::cantFail(session.read(name, {reinterpret_cast<char *>(values.data()),
                                     cudaSize * sizeof(float)}));
  return values;
}

std::vector<float> input(float first) {
  std::vector<float> values(cudaSize);
  for (int64_t i = 0; i < cudaSize; ++i)
    values[i] = first + i;
  return values;
}

const float *numbers(Executable::Results results, unsigned i) {
  return static_cast<const float *>(results[i].data());
}

TEST(CudaSession, RunsAProgram) {
  auto runner = session();
  EXPECT_EQ(runner->target(), "cuda");
  EXPECT_EQ(runner->arch(), "sm_80");
  ASSERT_EQ(message(runner->load(cudaProgram())), "no error");
  ASSERT_EQ(message(runner->initialize(3)), "no error");
  std::vector<float> w = floats(*runner, "w"), d = floats(*runner, "d");
  bool isEqual = false;
  const Variable &first = runner->variables()[0];
  ASSERT_EQ(message(runner->view(first,
                                 [&](llvm::ArrayRef<char> bytes) {
                                   isEqual = std::memcmp(bytes.data(), w.data(),
                                                         bytes.size()) == 0;
                                 })),
            "no error");
  EXPECT_TRUE(isEqual);
  Executable *step = runner->find("step", 4);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(runner->find("step", 5), nullptr);
  std::vector<float> x = input(10);
  auto results = llvm::cantFail(step->run({x}));
  for (int64_t i = 0; i < cudaSize; ++i) {
    EXPECT_EQ(d[i], 2 * w[i]);
    EXPECT_EQ(numbers(results, 0)[i], x[i] + w[i]);
    EXPECT_EQ(numbers(results, 1)[i], x[i] + w[i]);
    EXPECT_EQ(numbers(results, 3)[i], x[i]);
  }
  EXPECT_EQ(numbers(results, 2)[0], 2.0f);
  EXPECT_EQ(numbers(results, 2)[1], 3.0f);
  EXPECT_EQ(numbers(results, 4)[0], x[0] + w[0]);
  EXPECT_EQ(runner->plannedBytes(), 2 * 1024u + 2048u);
}

TEST(CudaSession, FirstValuesAreThoseOfTheCpu) {
  auto onDevice = session();
  ASSERT_EQ(message(onDevice->load(cudaProgram())), "no error");
  ASSERT_EQ(message(onDevice->initialize(7)), "no error");
  auto onHost = llvm::cantFail(Session::create());
  Program program = cudaProgram();
  program.target = "cpu";
  program.kernels.clear();
  program.entries.clear();
  ASSERT_EQ(message(onHost->load(program)), "no error");
  ASSERT_EQ(message(onHost->initialize(7)), "no error");
  EXPECT_EQ(floats(*onDevice, "w"), floats(*onHost, "w"));
}

TEST(CudaSession, StepsOverlap) {
  auto runner = session();
  ASSERT_EQ(message(runner->load(cudaProgram())), "no error");
  ASSERT_EQ(message(runner->initialize(3)), "no error");
  ASSERT_EQ(runner->stepsInFlight(), 2u);
  std::vector<float> w = floats(*runner, "w");
  Executable *step = runner->find("step", 4);
  std::vector<float> x(cudaSize);
  std::vector<Executable::Ticket> tickets;
  float sum = 0;
  for (int run = 0; run < 10; ++run) {
    // The inputs may be overwritten as soon as submit returns.
    llvm::fill(x, run + 1.0f);
    tickets.push_back(llvm::cantFail(step->submit({x})));
    llvm::fill(x, NAN);
    if (run == 0)
      continue;
    auto results = llvm::cantFail(step->results(tickets[run - 1]));
    sum += run;
    EXPECT_EQ(numbers(results, 3)[5], run);
    EXPECT_NEAR(numbers(results, 0)[5], w[5] + sum, 1e-4);
  }
  EXPECT_EQ(message(step->results(tickets[7])),
            "'step': the results of run 7 are not kept, only those of the "
            "last 2");
  EXPECT_EQ(message(step->results(tickets[9])), "no error");
}

TEST(CudaSession, ReadsAndWritesVariables) {
  auto runner = session();
  ASSERT_EQ(message(runner->load(cudaProgram())), "no error");
  std::vector<float> x = input(1);
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(x.data()), 1024);
  ASSERT_EQ(message(runner->write("w", bytes)), "no error");
  EXPECT_EQ(floats(*runner, "w"), x);
  ASSERT_EQ(message(runner->derive()), "no error");
  EXPECT_EQ(floats(*runner, "d")[9], 2 * x[9]);
  EXPECT_HAS(message(runner->write("w", bytes.drop_back())), "not 1023");
}

TEST(CudaSession, ALargerProgramMovesTheArena) {
  auto runner = session();
  ASSERT_EQ(message(runner->load(cudaProgram())), "no error");
  ASSERT_EQ(message(runner->initialize(3)), "no error");
  std::vector<float> x = input(1), w = floats(*runner, "w");
  auto before = llvm::cantFail(runner->find("step", 4)->run({x}));
  Program larger = cudaProgram();
  larger.entries[1].function = "other";
  larger.entries[1].arenaBytes = 1 << 20;
  ASSERT_EQ(message(runner->load(larger)), "no error");
  EXPECT_EQ(numbers(before, 0)[3], x[3] + w[3]) << "results stay";
  for (const char *function : {"step", "other"}) {
    w = floats(*runner, "w");
    auto results = llvm::cantFail(runner->find(function, 4)->run({x}));
    EXPECT_EQ(numbers(results, 0)[3], x[3] + w[3]) << function;
  }
  EXPECT_EQ(runner->compileCounts().misses, 3u) << "known kernels are kept";
}

TEST(CudaSession, RefusesWhatDoesNotRunHere) {
  auto runner = session();
  auto fault = [&](llvm::function_ref<void(Program &)> change) {
    Program program = cudaProgram();
    change(program);
    return message(runner->load(std::move(program)));
  };
  EXPECT_EQ(fault([](Program &program) { program.target = "cpu"; }),
            "the program is for target 'cpu', but this session runs 'cuda'");
  EXPECT_EQ(fault([](Program &program) {
              std::get<Copy>(program.entries[1].steps[2]).flag = onInput(0);
            }),
            "'step': a copy with a flag does not run on cuda");
  EXPECT_HAS(fault([](Program &program) {
               program.entries[1].steps.push_back(
                   Call{"blas.axpy", {}, 1, 1, {}});
             }),
             "unknown routine 'blas.axpy'; known: cublaslt.matmul, ");
  EXPECT_HAS(fault([](Program &program) {
               std::get<Launch>(program.entries[1].steps[0]).block = 2048;
             }),
             "kernel 'k_add' (mp.add) is launched with 4 blocks of 2048 "
             "threads");
  EXPECT_HAS(fault([](Program &program) {
               std::get<Launch>(program.entries[1].steps[0]).shared = 1 << 20;
             }),
             "kernel 'k_add' (mp.add) takes 1048576 bytes of shared memory");
  EXPECT_HAS(fault([](Program &program) {
               program.entries[1].arenaBytes = uint64_t(1) << 60;
             }),
             "'step' does not fit into memory");
  EXPECT_HAS(fault([](Program &program) {
               program.kernels[0] = cudaKernel("bad", 1, "nonsense;");
             }),
             "cannot compile kernel 'k_bad' (mp.bad) from net.mlir:3:5: NVRTC: "
             "nvrtcCompileProgram failed: ");
  EXPECT_EQ(runner->find("step", 4), nullptr);
  EXPECT_EQ(message(runner->load(cudaProgram())), "no error");
}

} // namespace
