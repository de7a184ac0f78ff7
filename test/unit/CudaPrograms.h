//===- CudaPrograms.h - small CUDA Programs for tests of the runtime ------===//
#ifndef MP_TEST_UNIT_CUDAPROGRAMS_H
#define MP_TEST_UNIT_CUDAPROGRAMS_H

#include "TestFiles.h"
#include "program/Program.h"

namespace mp::test {

constexpr int64_t cudaSize = 256;

inline BufferRef onArena(uint64_t offset) {
  return {BufferRef::Space::Arena, 0, offset};
}
inline BufferRef onVariable(uint32_t index) {
  return {BufferRef::Space::Variable, index, 0};
}
inline BufferRef onInput(uint32_t index) {
  return {BufferRef::Space::Staging, index, 0};
}

/// Makes a kernel over `cudaSize` floats whose body sees a global<float> of
/// every parameter, p0, p1, ..., and the thread's element `i`. With `table` a
/// table of addresses passes them.
inline Kernel cudaKernel(const std::string &name, int parameters,
                         const std::string &body, bool table = false) {
  std::string list, views;
  for (int i = 0; i < parameters; ++i) {
    std::string number = std::to_string(i);
    list += (i ? ", float *a" : "float *a") + number;
    std::string address =
        table ? "static_cast<float *>(args[" + number + "])" : "a" + number;
    views += "  auto p" + number + " = global(" + address + ", 256);\n";
  }
  Kernel kernel;
  kernel.symbol = "k_" + name;
  kernel.summary = "mp." + name;
  kernel.sources = {{"net.mlir", 3, 5}};
  kernel.code = "#include \"prelude.cuh\"\nusing namespace mp;\n"
                "extern \"C\" __global__ void k_" +
                name + "(" + (table ? "void *const *args" : list) +
                ") {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                views + "  " + body + "\n}\n";
  return kernel;
}

inline Launch cudaLaunch(uint32_t kernel, std::vector<BufferRef> args,
                         bool table = false) {
  Launch launch;
  launch.kernel = kernel;
  launch.grid = cudaSize / 64;
  launch.block = 64;
  launch.table = table;
  launch.args = std::move(args);
  return launch;
}

/// Makes a Program: w uniform in [1, 2), d = 2 w by `derive`. `step` gives y =
/// x + w and adds x to w; its other results are w, the end of a constant, and
/// x.
inline Program cudaProgram() {
  TensorType vector{ElementType::F32, {cudaSize}};
  Program program;
  program.target = "cuda";
  program.arch = "sm_80";
  for (const char *header : {"prelude.cuh", "clang.cuh"}) {
    auto text = llvm::MemoryBuffer::getFile(
        std::string(MP_SOURCE_DIR "/codegen/cuda/kernels/") + header);
    program.headers.push_back({header, (*text)->getBuffer().str()});
  }
  program.variables = {
      {"w",
       VariableKind::Parameter,
       vector,
       {Initializer::Kind::Uniform, 1, 2},
       {"net.mlir", 2, 3}},
      {"d", VariableKind::Derived, vector, {Initializer::Kind::Derived}, {}}};
  program.kernels = {
      cudaKernel("twice", 2, "p1.store(i, p0.load(i) + p0.load(i));"),
      cudaKernel("add", 3, "p2.store(i, p0.load(i) + p1.load(i));"),
      cudaKernel("gather", 2, "p1.store(i, p0.load(i) + p1.load(i));", true)};
  float numbers[] = {1, 2, 3};
  program.constants = {
      {{ElementType::F32, {3}},
       std::string(reinterpret_cast<const char *>(numbers), 12)}};
  Entry derive;
  derive.function = "derive";
  derive.steps = {cudaLaunch(0, {onVariable(0), onVariable(1)})};
  Entry step;
  step.function = "step";
  step.batch = 4;
  step.inputs = {{"x", vector, std::nullopt, std::nullopt, {}}};
  step.arenaBytes = 2 * cudaSize * 4;
  step.steps = {cudaLaunch(1, {onInput(0), onVariable(0), onArena(0)}),
                cudaLaunch(2, {onInput(0), onVariable(0)}, /*table=*/true),
                Copy{onArena(1024), onArena(0), cudaSize * 4, std::nullopt}};
  step.results = {
      {"y", vector, onArena(1024)},
      {"w", vector, onVariable(0)},
      {"c", {ElementType::F32, {2}}, {BufferRef::Space::Constant, 0, 4}},
      {"x", vector, onInput(0)},
      {"y0", {ElementType::F32, {}}, onArena(0)}};
  program.entries = {derive, step};
  return program;
}

} // namespace mp::test

#endif // MP_TEST_UNIT_CUDAPROGRAMS_H
