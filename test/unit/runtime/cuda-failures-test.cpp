//===- cuda-failures-test.cpp - failures of CUDA --------------------------===//
//
// Every call of the driver and of NVRTC fails in turn, and the run ends with a
// message: no crash, no hang. The driver's log of calls also gives the parts of
// a step.
//
//===----------------------------------------------------------------------===//
#include "ChildProcess.h"
#include "CudaPrograms.h"
#include "runtime/Session.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace mp;
using namespace mp::test;

namespace {

constexpr int steps = 5;

/// A run from beginning to end, two steps in flight.
llvm::Error train(Program program) {
  llvm::Expected<DeviceChoice> choice = chooseDevice("cuda");
  if (!choice)
    return choice.takeError();
  SessionOptions options;
  options.device = choice->device;
  auto session = Session::create(options);
  if (!session)
    return session.takeError();
  if (llvm::Error error = (*session)->load(std::move(program)))
    return error;
  if (llvm::Error error = (*session)->initialize(3))
    return error;
  Executable *step = (*session)->find("step", 4);
  std::vector<float> x(cudaSize, 1.0f);
  for (int run = 0; run <= steps; ++run) {
    if (run < steps)
      if (auto ticket = step->submit({x}); !ticket)
        return ticket.takeError();
    if (run > 0)
      if (auto results = step->results(run - 1); !results)
        return results.takeError();
  }
  std::vector<char> w(cudaSize * sizeof(float));
  return (*session)->read("w", w);
}

class CudaFailures : public testing::Test {
protected:
  Settings settings(Settings more = {}) const {
    Settings all = {{"MP_CUDA_PATH", MP_EMULATOR_DIR},
                    {"MP_CACHE_DIR", folder.path("cache")},
                    {"MP_EMULATOR_LOG", folder.path("log")}};
    llvm::append_range(all, more);
    return all;
  }
  Outcome run(Settings more = {}, Program program = cudaProgram()) const {
    return inChild(settings(std::move(more)),
                   [&] { return train(std::move(program)); });
  }
  /// The calls logged so far, in order.
  std::vector<std::string> calls() const {
    std::vector<std::string> lines;
    llvm::SmallVector<llvm::StringRef> parts;
    std::string text = folder.read("log");
    llvm::StringRef(text).split(parts, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts)
      lines.push_back(part.str());
    return lines;
  }
  static std::string nameOf(const std::string &line) {
    return line.substr(0, line.find(' '));
  }
  TestFolder folder;
};

TEST_F(CudaFailures, EveryCallInTurn) {
  Outcome whole = run({{"MP_CACHE_DIR", "off"}});
  ASSERT_EQ(whole.exit, 0) << whole.message << " signal " << whole.signal;
  std::map<std::string, int> counts;
  for (const std::string &line : calls())
    if (std::string name = nameOf(line);
        llvm::StringRef(name).starts_with("cu") ||
        llvm::StringRef(name).starts_with("nvrtc"))
      ++counts[name];
  ASSERT_GT(counts.size(), 30u);
  // A failed release is not reported, and a failure to add details to a message
  // does not fail the run.
  std::set<std::string> unheard = {
      "cuCtxSetCurrent",    "cuDevicePrimaryCtxRelease",
      "cuModuleUnload",     "cuMemFree",
      "cuMemFreeHost",      "cuStreamDestroy",
      "cuEventDestroy",     "cuGraphDestroy",
      "cuGraphExecDestroy", "nvrtcDestroyProgram",
      "cuGetErrorName",     "nvrtcGetErrorString",
      "nvrtcGetProgramLog", "nvrtcGetProgramLogSize"};
  for (auto &[name, count] : counts)
    for (int nth = 1; nth <= count; ++nth) {
      std::string fail =
          name + ":" + std::to_string(nth) +
          (llvm::StringRef(name).starts_with("cu") ? ":700" : ":6");
      SCOPED_TRACE(fail);
      Outcome outcome =
          run({{"MP_EMULATOR_FAIL", fail}, {"MP_CACHE_DIR", "off"}});
      EXPECT_EQ(outcome.signal, 0);
      EXPECT_EQ(outcome.said, "");
      if (outcome.exit == 0 && unheard.count(name))
        continue;
      // The last wait is that of the destructor.
      if (outcome.exit == 0 && name == "cuStreamSynchronize" && nth == count)
        continue;
      EXPECT_EQ(outcome.exit, 3) << outcome.message;
      EXPECT_HAS(outcome.message, name);
    }
}

/// A step that begins with a convolution by cuDNN.
Program convolving() {
  using List = std::vector<int64_t>;
  Program program = cudaProgram();
  Call call;
  call.routine = "cudnn.conv2d";
  call.attributes = {{"kind", "forward"},
                     {"input", List{1, 4, 4, 1}},
                     {"weight", List{1, 1, 1, 1}},
                     {"output", List{1, 4, 4, 1}},
                     {"strides", List{1, 1}},
                     {"low", List{0, 0}},
                     {"high", List{0, 0}},
                     {"dilations", List{1, 1}},
                     {"type", "f32"},
                     {"bias", int64_t(0)},
                     {"compute", "f32"},
                     {"workspace", int64_t(256)}};
  call.args = {onInput(0), onInput(0), onArena(0), onArena(256)};
  std::vector<Step> &steps = program.entries[1].steps;
  steps.insert(steps.begin(), call);
  return program;
}

TEST_F(CudaFailures, AMissingLibraryIsNamedWithItsCure) {
  Outcome there = run({}, convolving());
  EXPECT_EQ(there.exit, 0) << there.message;
  // As the machine may have one, a file that is none stands for it.
  for (const char *name : {"libcuda.so.1", "libnvrtc.so.13"})
    llvm::cantFail(llvm::errorCodeToError(llvm::sys::fs::create_link(
        std::string(MP_EMULATOR_DIR "/") + name, folder.path(name))));
  folder.write("libcudnn.so.9", "none");
  Outcome missing = run({{"MP_CUDA_PATH", folder.path("")}}, convolving());
  EXPECT_EQ(missing.exit, 3);
  EXPECT_HAS(missing.message, "routine 'cudnn.conv2d': cannot open cuDNN: ");
  EXPECT_HAS(
      missing.message,
      "; install it (pip install nvidia-cudnn-cu13, or -cu12 beside CUDA "
      "12), set MP_CUDA_PATH to its folder, or compile without a plan "
      "that names cudnn");
}

TEST_F(CudaFailures, AStepIsOneGraphLaunchAndNoSynchronisation) {
  ASSERT_EQ(run().exit, 0);
  std::vector<std::string> all = calls();
  // The first steps' launches: after `derive`, which has one of its own.
  std::vector<size_t> launches;
  for (auto [i, line] : llvm::enumerate(all))
    if (nameOf(line) == "cuGraphLaunch")
      launches.push_back(i);
  ASSERT_EQ(launches.size(), 1u + steps);
  std::map<std::string, int> between;
  for (size_t i = launches[1] + 1; i <= launches[steps]; ++i)
    if (llvm::StringRef(all[i]).starts_with("cu"))
      ++between[nameOf(all[i])];
  constexpr int more = steps - 1;
  std::map<std::string, int> expected = {{"cuGraphLaunch", more},
                                         {"cuMemcpyHtoDAsync", more},
                                         {"cuStreamWaitEvent", more},
                                         {"cuEventRecord", 2 * more},
                                         {"cuEventSynchronize", 2 * more - 1}};
  EXPECT_EQ(between, expected);
}

TEST_F(CudaFailures, AKernelThatFailsIsFoundAtTheNextWait) {
  Program program = cudaProgram();
  program.kernels[1] =
      cudaKernel("add", 3, "p2.store(i + 1000000, p0.load(i) + p1.load(i));");
  Outcome outcome = run({}, program);
  EXPECT_EQ(outcome.exit, 3) << "signal " << outcome.signal;
  EXPECT_HAS(outcome.message, "run 1 of 'step' at batch 4 on cuda:0 (");
  EXPECT_HAS(outcome.message, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  EXPECT_HAS(outcome.said, "k_add") << "the emulator says which kernel";
}

TEST_F(CudaFailures, DevicesThatCannotBeUsed) {
  auto fault = [&](Settings more) {
    Outcome outcome = run(std::move(more));
    EXPECT_EQ(outcome.exit, 3);
    return outcome.message;
  };
  EXPECT_HAS(fault({{"MP_EMULATOR_DEVICES", "0"}}),
             "device cuda is not available: the CUDA driver " MP_EMULATOR_DIR);
  EXPECT_HAS(fault({{"MP_EMULATOR_ARCH", "75"}}),
             "has compute capability 7.5, expected 8.0 or later");
  EXPECT_HAS(fault({{"MP_EMULATOR_DRIVER", "11080"}}),
             "is for CUDA 11.8, expected 12.0 or later");
}

TEST_F(CudaFailures, TheSecondRunFindsItsKernelsInTheCache) {
  auto counted = [&](uint64_t hits, uint64_t misses) {
    return inChild(settings(), [&]() -> llvm::Error {
      SessionOptions options;
      options.device = {Device::Kind::Cuda, 0};
      auto session = llvm::cantFail(Session::create(options));
      if (llvm::Error error = session->load(cudaProgram()))
        return error;
      CompileCounts counts = session->compileCounts();
      if (counts.hits == hits && counts.misses == misses)
        return llvm::Error::success();
      return llvm::createStringError("%d hits, %d misses", int(counts.hits),
                                     int(counts.misses));
    });
  };
  Outcome first = counted(0, 3), second = counted(3, 0);
  EXPECT_EQ(first.exit, 0) << first.message;
  EXPECT_EQ(second.exit, 0) << second.message;
}

} // namespace
