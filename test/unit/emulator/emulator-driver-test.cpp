//===- emulator-driver-test.cpp - the emulated driver and NVRTC -----------===//
//
// These tests check that work is late, and that mistakes in ordering it are
// visible.
//
//===----------------------------------------------------------------------===//
#include "EmulatedDevice.h"

#include <thread>

using namespace mp::test;

namespace {

class EmulatorDriver : public EmulatedDevice {
protected:
  CUstream stream() {
    CUstream stream = nullptr;
    EXPECT_EQ(cuda("cuStreamCreate", &stream, CU_STREAM_NON_BLOCKING),
              CUDA_SUCCESS);
    return stream;
  }
  CUevent record(CUstream stream) {
    CUevent event = nullptr;
    EXPECT_EQ(cuda("cuEventCreate", &event, CU_EVENT_DISABLE_TIMING),
              CUDA_SUCCESS);
    EXPECT_EQ(cuda("cuEventRecord", event, stream), CUDA_SUCCESS);
    return event;
  }
  float *pinned(size_t count) {
    void *memory = nullptr;
    EXPECT_EQ(cuda("cuMemHostAlloc", &memory, count * sizeof(float), 0u),
              CUDA_SUCCESS);
    return static_cast<float *>(memory);
  }
  CUresult copyIn(CUdeviceptr to, const void *from, CUstream stream) {
    return cuda("cuMemcpyHtoDAsync_v2", to, from, size_t(256), stream);
  }
  CUresult copyOut(void *to, CUdeviceptr from, CUstream stream) {
    return cuda("cuMemcpyDtoHAsync_v2", to, from, size_t(256), stream);
  }
  CUgraphNode addNode(CUgraph graph, std::vector<CUgraphNode> after,
                      CUdeviceptr in, CUdeviceptr out) {
    void *parameters[] = {&in, &out};
    CUDA_KERNEL_NODE_PARAMS_v2 node{};
    node.func = add;
    node.gridDimX = node.gridDimY = node.gridDimZ = 1;
    node.blockDimX = 64;
    node.blockDimY = node.blockDimZ = 1;
    node.kernelParams = parameters;
    CUgraphNode result = nullptr;
    EXPECT_EQ(cuda("cuGraphAddKernelNode_v2", &result, graph,
                   static_cast<const CUgraphNode *>(after.data()), after.size(),
                   static_cast<const CUDA_KERNEL_NODE_PARAMS_v2 *>(&node)),
              CUDA_SUCCESS);
    return result;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuda("cuGraphInstantiateWithFlags", &exec, graph, 0ull),
              CUDA_SUCCESS);
    return exec;
  }

  CUfunction add = nullptr; // out = in + 1, 64 floats
  void SetUp() override {
    EmulatedDevice::SetUp();
    add = kernel("kernels/add.cu");
  }
};

TEST_F(EmulatorDriver, runsNothingBeforeItIsWaitedFor) {
  CUstream work = stream();
  CUdeviceptr in = upload(std::vector<float>(64, 1)), out = allocate(256);
  float *result = pinned(64);
  ASSERT_EQ(launch(add, 1, 64, 0, work, in, out), CUDA_SUCCESS);
  ASSERT_EQ(copyOut(result, out, work), CUDA_SUCCESS);
  CUevent done = record(work);
  EXPECT_NE(result[0], result[0]); // poison: read too early
  EXPECT_EQ(cuda("cuEventQuery", done), CUDA_ERROR_NOT_READY);
  EXPECT_NE(result[0], result[0]);
  // A blocking copy does not wait for a stream that is not blocking.
  EXPECT_NE(download<float>(out, 1)[0], 2);
  ASSERT_EQ(cuda("cuEventSynchronize", done), CUDA_SUCCESS);
  EXPECT_EQ(result[0], 2);
  EXPECT_EQ(cuda("cuEventQuery", done), CUDA_SUCCESS);
}

TEST_F(EmulatorDriver, readsAPinnedBufferWhenTheCopyRuns) {
  CUstream work = stream();
  CUdeviceptr at = allocate(256);
  float *buffer = pinned(64);
  buffer[0] = 1;
  ASSERT_EQ(copyIn(at, buffer, work), CUDA_SUCCESS);
  buffer[0] = 2; // too early
  ASSERT_EQ(cuda("cuStreamSynchronize", work), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(at, 1)[0], 2);
  // From other memory the copy is complete when the call returns.
  std::vector<float> pageable(64, 3);
  ASSERT_EQ(copyIn(at, pageable.data(), work), CUDA_SUCCESS);
  pageable[0] = 4;
  ASSERT_EQ(cuda("cuStreamSynchronize", work), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(at, 1)[0], 3);
}

TEST_F(EmulatorDriver, ordersStreamsByEventsAlone) {
  CUstream first = stream(), second = stream();
  CUdeviceptr a = upload(std::vector<float>(64, 1)), b = allocate(256),
              c = allocate(256);
  ASSERT_EQ(launch(add, 1, 64, 0, first, a, b), CUDA_SUCCESS);
  CUevent ready = record(first);
  ASSERT_EQ(cuda("cuStreamWaitEvent", second, ready, 0u), CUDA_SUCCESS);
  ASSERT_EQ(launch(add, 1, 64, 0, second, b, c), CUDA_SUCCESS);
  ASSERT_EQ(cuda("cuStreamSynchronize", second), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(c, 1)[0], 3);
  // Without the event the second stream overtakes the first.
  ASSERT_EQ(launch(add, 1, 64, 0, first, c, b), CUDA_SUCCESS);
  ASSERT_EQ(launch(add, 1, 64, 0, second, b, c), CUDA_SUCCESS);
  ASSERT_EQ(cuda("cuStreamSynchronize", second), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(c, 1)[0], 3);
}

TEST_F(EmulatorDriver, runsBlocksOfACooperativeLaunchAtOnce) {
  constexpr unsigned blocks = 5;
  CUfunction function = kernel("kernels/grid.cu");
  CUdeviceptr arrived = upload(std::vector<unsigned>(1)),
              parts = allocate(4 * blocks), sums = allocate(8 * blocks);
  void *parameters[] = {&arrived, &parts, &sums};
  CUDA_KERNEL_NODE_PARAMS_v2 node{};
  node.func = function;
  node.gridDimX = blocks;
  node.blockDimX = 64;
  node.gridDimY = node.gridDimZ = node.blockDimY = node.blockDimZ = 1;
  node.kernelParams = parameters;
  CUlaunchAttributeValue value{};
  value.cooperative = 1;
  auto makeGraph = [&](CUresult expected) {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuda("cuGraphCreate", &graph, 0u), CUDA_SUCCESS);
    CUgraphNode added = nullptr;
    EXPECT_EQ(cuda("cuGraphAddKernelNode_v2", &added, graph,
                   static_cast<const CUgraphNode *>(nullptr), size_t(0),
                   static_cast<const CUDA_KERNEL_NODE_PARAMS_v2 *>(&node)),
              CUDA_SUCCESS);
    EXPECT_EQ(cuda("cuGraphKernelNodeSetAttribute", added,
                   CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                   static_cast<const CUlaunchAttributeValue *>(&value)),
              expected);
    return graph;
  };
  CUgraphExec exec = instantiate(makeGraph(CUDA_SUCCESS));
  for (const char *seed : {"0", "1", "2", "3"}) {
    setenv("MP_EMULATOR_SEED", seed, 1);
    CUstream work = stream();
    ASSERT_EQ(cuda("cuGraphLaunch", exec, work), CUDA_SUCCESS);
    ASSERT_EQ(cuda("cuStreamSynchronize", work), CUDA_SUCCESS);
    std::vector<float> wanted(blocks, 15);
    wanted.resize(2 * blocks, 20);
    EXPECT_EQ(download<float>(sums, 2 * blocks), wanted);
  }
  // More blocks than the multiprocessors hold would wait for ever.
  node.gridDimX = 1000;
  makeGraph(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_F(EmulatorDriver, runsGraphsInTheOrderOfTheirEdges) {
  CUstream work = stream();
  CUdeviceptr a = upload(std::vector<float>(64, 1)), b = allocate(256),
              c = allocate(256);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuda("cuGraphCreate", &graph, 0u), CUDA_SUCCESS);
  CUgraphNode first = addNode(graph, {}, a, b);
  addNode(graph, {first}, b, c);
  CUgraphExec exec = instantiate(graph);
  for (const char *seed : {"0", "1", "2", "3"}) {
    setenv("MP_EMULATOR_SEED", seed, 1);
    // The fill is on the graph's stream: on another one it might come after the
    // graph.
    ASSERT_EQ(cuda("cuMemsetD32Async", c, 0u, size_t(64), work), CUDA_SUCCESS);
    ASSERT_EQ(cuda("cuGraphLaunch", exec, work), CUDA_SUCCESS);
    ASSERT_EQ(cuda("cuStreamSynchronize", work), CUDA_SUCCESS);
    EXPECT_EQ(download<float>(c, 1)[0], 3);
  }
}

TEST_F(EmulatorDriver, logsHowOldAnEventIs) {
  CUstream work = stream();
  CUgraph graph = nullptr;
  ASSERT_EQ(cuda("cuGraphCreate", &graph, 0u), CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  CUevent event = record(work);
  for (int launches = 0; launches < 2; ++launches)
    ASSERT_EQ(cuda("cuGraphLaunch", exec, work), CUDA_SUCCESS);
  std::string log = startLog();
  ASSERT_EQ(cuda("cuEventSynchronize", event), CUDA_SUCCESS);
  EXPECT_NE(readText(log).find(" age=2\n"), std::string::npos) << readText(log);
}

TEST_F(EmulatorDriver, findsAMissingEdgeByTheSeed) {
  CUdeviceptr a = upload(std::vector<float>(64, 1)), b = allocate(256),
              c = allocate(256);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuda("cuGraphCreate", &graph, 0u), CUDA_SUCCESS);
  addNode(graph, {}, a, b);
  addNode(graph, {}, b, c); // reads what the first writes
  CUgraphExec exec = instantiate(graph);
  bool wrong = false;
  for (int seed = 1; seed <= 8; ++seed) {
    setenv("MP_EMULATOR_SEED", std::to_string(seed).c_str(), 1);
    ASSERT_EQ(
        cuda("cuMemsetD8_v2", b, static_cast<unsigned char>(0xff), size_t(256)),
        CUDA_SUCCESS);
    ASSERT_EQ(cuda("cuGraphLaunch", exec, static_cast<CUstream>(nullptr)),
              CUDA_SUCCESS);
    wrong |= download<float>(c, 1)[0] != 3;
  }
  EXPECT_TRUE(wrong);
}

TEST_F(EmulatorDriver, capturesWorkOfForkedStreams) {
  CUstream first = stream(), second = stream();
  CUdeviceptr a = upload(std::vector<float>(64, 1)), b = allocate(256),
              c = allocate(256);
  ASSERT_EQ(cuda("cuStreamBeginCapture_v2", first, 1), CUDA_SUCCESS);
  ASSERT_EQ(launch(add, 1, 64, 0, first, a, b), CUDA_SUCCESS);
  CUevent forked = record(first);
  ASSERT_EQ(cuda("cuStreamWaitEvent", second, forked, 0u), CUDA_SUCCESS);
  ASSERT_EQ(launch(add, 1, 64, 0, second, b, c), CUDA_SUCCESS);
  EXPECT_EQ(cuda("cuStreamSynchronize", second),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUevent joined = record(second);
  ASSERT_EQ(cuda("cuStreamWaitEvent", first, joined, 0u), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuda("cuStreamEndCapture", first, &graph), CUDA_SUCCESS);
  size_t nodes = 0;
  ASSERT_EQ(cuda("cuGraphGetNodes", graph, static_cast<CUgraphNode *>(nullptr),
                 &nodes),
            CUDA_SUCCESS);
  EXPECT_EQ(nodes, 2u);
  EXPECT_NE(download<float>(c, 1)[0], 3); // recorded, not run
  ASSERT_EQ(cuda("cuGraphLaunch", instantiate(graph), first), CUDA_SUCCESS);
  ASSERT_EQ(cuda("cuStreamSynchronize", first), CUDA_SUCCESS);
  EXPECT_EQ(download<float>(c, 1)[0], 3);
}

TEST_F(EmulatorDriver, refusesAForkThatIsNotJoined) {
  CUstream first = stream(), second = stream();
  CUdeviceptr a = upload(std::vector<float>(64, 1)), b = allocate(256);
  ASSERT_EQ(cuda("cuStreamBeginCapture_v2", first, 1), CUDA_SUCCESS);
  CUevent forked = record(first);
  ASSERT_EQ(cuda("cuStreamWaitEvent", second, forked, 0u), CUDA_SUCCESS);
  ASSERT_EQ(launch(add, 1, 64, 0, second, a, b), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuda("cuStreamEndCapture", first, &graph),
            CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

TEST_F(EmulatorDriver, failsTheCallThatItIsToldTo) {
  setenv("MP_EMULATOR_FAIL", "cuMemAlloc:2:2,cuStreamCreate:0:999", 1);
  CUdeviceptr address = 0;
  CUstream stream = nullptr;
  EXPECT_EQ(cuda("cuMemAlloc_v2", &address, size_t(4)), CUDA_SUCCESS);
  EXPECT_EQ(cuda("cuMemAlloc_v2", &address, size_t(4)),
            CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuda("cuMemAlloc_v2", &address, size_t(4)), CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(cuda("cuStreamCreate", &stream, 1u), CUDA_ERROR_UNKNOWN);
  setenv("MP_EMULATOR_FAIL", "nvrtcCompileProgram:1:11", 1);
  EXPECT_EQ(compile("").result, NVRTC_ERROR_INTERNAL_ERROR);
}

TEST_F(EmulatorDriver, logsEveryCall) {
  std::string log = startLog();
  CUstream work = stream();
  CUdeviceptr in = upload(std::vector<float>(64, 1)), out = allocate(256);
  ASSERT_EQ(launch(add, 1, 64, 0, work, in, out), CUDA_SUCCESS);
  ASSERT_EQ(cuda("cuStreamSynchronize", work), CUDA_SUCCESS);
  cuda("cuDevicePrimaryCtxReset_v2", 0);
  EXPECT_EQ(readText(log),
            "cuStreamCreate flags=1\n"
            "cuMemAlloc bytes=256\n"
            "cuMemcpyHtoD bytes=256\n"
            "cuMemAlloc bytes=256\n"
            "cuLaunchKernel name=k stream=1\n"
            "cuStreamSynchronize stream=1\n"
            "k grid=1 block=64 shared=0 read=256 written=256\n"
            "cuDevicePrimaryCtxReset device=0\n"
            "alive: allocations=2 bytes=512 pinned=0 streams=1 events=0 "
            "modules=1 graphs=0\n");
}

TEST_F(EmulatorDriver, refusesLaunchesThatADeviceRefuses) {
  CUdeviceptr in = upload(std::vector<float>(64, 1)), out = allocate(256);
  auto tryLaunch = [&](unsigned grid, unsigned block, unsigned shared) {
    return launch(add, grid, block, shared, nullptr, in, out);
  };
  EXPECT_EQ(tryLaunch(0, 64, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(tryLaunch(1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(tryLaunch(1, 64, 50000), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuda("cuFuncSetAttribute", add, int(FunctionMaxDynamicShared), 164 << 10),
      CUDA_ERROR_INVALID_VALUE); // 8.0 has 163 KiB
  EXPECT_EQ(
      cuda("cuFuncSetAttribute", add, int(FunctionMaxDynamicShared), 50000),
      CUDA_SUCCESS);
  EXPECT_EQ(tryLaunch(1, 64, 50000), CUDA_SUCCESS);
}

TEST_F(EmulatorDriver, loadsOnlyCodeForItsArchitecture) {
  std::string source = "#include \"prelude.cuh\"\n"
                       "extern \"C\" __global__ void k() {}\n";
  CUmodule module = nullptr;
  auto load = [&](const std::string &object) {
    return cuda("cuModuleLoadData", &module,
                static_cast<const void *>(object.data()));
  };
  Compiled compiled = compile(source); // sm_80
  ASSERT_EQ(compiled.result, NVRTC_SUCCESS) << compiled.log;
  EXPECT_EQ(load(compiled.object), CUDA_SUCCESS);
  setenv("MP_EMULATOR_ARCH", "86", 1);
  EXPECT_EQ(load(compiled.object), CUDA_SUCCESS);
  setenv("MP_EMULATOR_ARCH", "90", 1);
  EXPECT_EQ(load(compiled.object), CUDA_ERROR_NO_BINARY_FOR_GPU);
  std::string damaged = compiled.object;
  damaged[0] = 'x';
  EXPECT_EQ(load(damaged), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(EmulatorDriver, givesTheCompilersMessages) {
  Compiled compiled = compile("int x = ;\n");
  EXPECT_EQ(compiled.result, NVRTC_ERROR_COMPILATION);
  EXPECT_NE(compiled.log.find("test.cu:1:"), std::string::npos) << compiled.log;
  compiled = compile("", {"--no-such-option"});
  EXPECT_EQ(compiled.result, NVRTC_ERROR_INVALID_OPTION);
  EXPECT_NE(compiled.log.find("--no-such-option"), std::string::npos);
  EXPECT_EQ(compile("", {"--gpu-architecture=sm_70"}).result,
            NVRTC_ERROR_INVALID_OPTION);
}

TEST_F(EmulatorDriver, compilesInManyThreads) {
  std::vector<std::thread> threads;
  std::vector<nvrtcResult> results(4, NVRTC_ERROR_INTERNAL_ERROR);
  for (size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&results, i] {
      results[i] = compile("int x" + std::to_string(i % 2) + ";\n").result;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(results, std::vector<nvrtcResult>(4, NVRTC_SUCCESS));
}

using EmulatorDeathTest = EmulatorDriver;
TEST_F(EmulatorDeathTest, hidesDeviceMemoryFromTheHost) {
  GTEST_FLAG_SET(death_test_style, "fast");
  CUdeviceptr at = upload(std::vector<float>(64, 1));
  EXPECT_DEATH(printf("%f", double(*reinterpret_cast<volatile float *>(at))),
               "");
}

TEST_F(EmulatorDriver, findsFunctionsByTheirPlainNames) {
  void *function = nullptr;
  EXPECT_EQ(cuda("cuGetProcAddress_v2", "cuMemAlloc", &function, 12000,
                 uint64_t(0), static_cast<int *>(nullptr)),
            CUDA_SUCCESS);
  EXPECT_EQ(function, Function<>("libcuda.so.1", "cuMemAlloc_v2").address);
  EXPECT_EQ(cuda("cuGetProcAddress_v2", "cuNothing", &function, 12000,
                 uint64_t(0), static_cast<int *>(nullptr)),
            CUDA_ERROR_NOT_FOUND);
}

TEST_F(EmulatorDriver, keepsTheTimeInGraphs) {
  CUstream work = stream();
  CUdeviceptr a = upload(std::vector<float>(64, 1)), b = allocate(256);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuda("cuGraphCreate", &graph, 0u), CUDA_SUCCESS);
  CUevent start = nullptr, end = nullptr;
  ASSERT_EQ(cuda("cuEventCreate", &start, 0u), CUDA_SUCCESS);
  ASSERT_EQ(cuda("cuEventCreate", &end, 0u), CUDA_SUCCESS);
  CUgraphNode before = nullptr, after = nullptr;
  ASSERT_EQ(cuda("cuGraphAddEventRecordNode", &before, graph,
                 static_cast<const CUgraphNode *>(nullptr), size_t(0), start),
            CUDA_SUCCESS);
  CUgraphNode between = addNode(graph, {before}, a, b);
  ASSERT_EQ(cuda("cuGraphAddEventRecordNode", &after, graph,
                 static_cast<const CUgraphNode *>(&between), size_t(1), end),
            CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  ASSERT_EQ(cuda("cuGraphLaunch", exec, work), CUDA_SUCCESS);
  float milliseconds = 0;
  EXPECT_EQ(cuda("cuEventElapsedTime", &milliseconds, start, end),
            CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuda("cuStreamSynchronize", work), CUDA_SUCCESS);
  EXPECT_EQ(cuda("cuEventElapsedTime", &milliseconds, start, end),
            CUDA_SUCCESS);
  EXPECT_GT(milliseconds, 0);
}

} // namespace
