//===- cuda-gate-test.cpp - every kernel through the real compiler --------===//
//
// Every kernel of every test model, for every architecture: it compiles, spills
// no register and has no stack. This needs no GPU, only NVRTC: the machine's,
// or the one that test/fetch-nvrtc.py brings.
//
//===----------------------------------------------------------------------===//
#include "CudaGate.h"
#include "OpSamples.h"
#include "codegen/cuda/OneSource.h"
#include "codegen/cuda/contraction/TuneModules.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {
std::vector<std::string> models() {
  std::vector<std::string> paths = {MP_SOURCE_DIR
                                    "/examples/fashion-mnist/mlp.mlir"};
  std::error_code error;
  for (sys::fs::directory_iterator file(MP_SOURCE_DIR "/test/models", error),
       end;
       file != end && !error; file.increment(error))
    if (sys::path::extension(file->path()) == ".mlir")
      paths.push_back(file->path());
  return paths;
}

/// Collects steps in every precision, one with evaluation; with the example's
/// batch, and an odd one.
void collectModels(Sources &all, StringRef arch) {
  CompileOptions options;
  options.target = "cuda";
  options.arch = arch.str();
  options.totalSteps = 100;
  for (const std::string &path : models()) {
    options.filename = path;
    std::string text = (*MemoryBuffer::getFile(path))->getBuffer().str();
    options.batch = sys::path::stem(path) == "mlp" ? 128 : 33;
    for (StringRef precision : {"fp32", "tf32", "fp16", "bf16", "fp8"})
      for (Goal goal : {Goal::Train, Goal::Evaluate}) {
        if (goal == Goal::Evaluate && precision != "fp16")
          continue;
        options.precision = precision.str();
        options.goal = goal;
        collect(all, text, options);
      }
  }
}

void collectOps(Sources &all, StringRef arch) {
  CompileOptions options;
  options.target = "cuda";
  options.arch = arch.str();
  options.goal = Goal::Run;
  options.mode = Mode::Train; // the ops of a step
  options.filename = "sample";
  // In turn: the models have all types.
  for (auto [index, sample] : enumerate(differentiableSamples()))
    if (auto modules = sampleModules(sample, index % 2 ? "bf16" : "f32")) {
      options.function = "f";
      collect(all, modules->forward, options);
      options.function = "f.gradient";
      collect(all, modules->backward, options);
    }
}

/// Collects what has no gradient, and so no samples: moves of images.
void collectImages(Sources &all, StringRef arch) {
  CompileOptions options;
  options.target = "cuda";
  options.arch = arch.str();
  options.goal = Goal::Run;
  options.mode = Mode::Train;
  options.filename = "images";
  for (StringRef images : {"33x9x7x3xui8", "33x9x7x3xbf16", "33x9x7x16xf32"}) {
    const char *format = R"(
      func.func @f(%x: tensor<{0}>, %i: tensor<33xi32>, %m: tensor<33xi1>,
                   %n: tensor<33xf32>) -> tensor<{0}> {{
        %y = mp.augment_images %x, %i, %i mirrored(%m : tensor<33xi1>)
            : tensor<{0}>, tensor<33xi32>, tensor<33xi32>
        %z = mp.crop_resize %y, %n, %n, %n, %n size[9, 7]
            : tensor<{0}>, tensor<33xf32>
        return %z : tensor<{0}>
      })";
    collect(all, formatv(format, images).str(), options);
  }
}

/// Collects products alone, in every config, plain and transposed, with rows
/// that no tile divides and that are `aligned` elements apart; 0 takes 2, 4 and
/// 8 in turn. `ofGroups` are the configs of warpgroups alone.
void collectProducts(Sources &all, StringRef arch, int aligned,
                     bool ofGroups = false) {
  CompileOptions options;
  options.target = "cuda";
  options.arch = arch.str();
  options.goal = Goal::Run;
  int turn = 0;
  for (StringRef type : {"f16", "tf32", "f32"})
    for (StringRef transposes : {"nn", "nt", "tn", "tt"}) {
      int elements = aligned ? aligned : 2 << turn++ % 3;
      auto shape = cantFail(cuda::GemmShape::parse(
          formatv("{0} {1} 1x{2}x{2}x{3}", type, transposes, 512 + elements,
                  256 + elements)
              .str()));
      for (const cuda::GemmConfig &config : cuda::gemmCandidates(
               shape, cantFail(cuda::Arch::get(arch)), /*most=*/1000)) {
        // Their kernels differ in the number of tiles, which warpgroups' loops
        // do not know then.
        if (config.splits > (config.wgmma ? 2 : 1) ||
            (ofGroups && !config.wgmma))
          continue;
        options.filename = shape.str() + " = " + config.str();
        options.plan =
            ("mp.plan 1 " + arch + "\ngemm " + options.filename + "\n").str();
        collect(all, cuda::moduleOf(shape), options);
      }
    }
}

/// Like CudaGate, for fewer architectures.
class CudaProducts : public CudaGate {};
} // namespace

/// Removes the kernels whose text is that of another architecture.
static void dropEqual(Sources &all, StringRef otherArch) {
  Sources others;
  collectModels(others, otherArch);
  std::set<std::string> known;
  for (auto &[symbol, source] : others)
    known.insert(source.kernel.code);
  std::erase_if(all, [&](const auto &entry) {
    return known.count(entry.second.kernel.code);
  });
}

// The oldest and the newest architecture compile every kernel, those between
// them only the kernels that differ from the oldest's. Single ops are compiled
// for the oldest: the models cover the differences between architectures.
TEST_P(CudaGate, EveryKernelCompiles) {
  constexpr int oldest = 80, newest = 120;
  Sources all;
  collectModels(all, arch);
  ASSERT_GE(all.size(), 60u);
  if (GetParam() == oldest) {
    collectOps(all, arch);
    collectImages(all, arch);
  } else if (GetParam() != newest)
    dropEqual(all, "sm_" + std::to_string(oldest));
  expectFaultless(all);
}

// The output of mp-translate --mp-to-cuda compiles unchanged.
TEST(CudaOneSource, AWholeStepCompiles) {
  auto nvrtc = nvrtcForTests();
  ASSERT_TRUE(bool(nvrtc)) << toString(nvrtc.takeError());
  CompileOptions options;
  options.target = "cuda";
  options.arch = "sm_80";
  options.precision = "fp16";
  options.batch = 33;
  options.totalSteps = 100;
  for (StringRef model :
       {"examples/fashion-mnist/mlp.mlir", "test/models/attention.mlir"}) {
    options.filename = (MP_SOURCE_DIR "/" + model).str();
    std::string text =
        (*MemoryBuffer::getFile(options.filename))->getBuffer().str();
    Program program = cantFail(mp::compile(text, options));
    auto compiled = cuda::compileToCubin(
        *nvrtc, cuda::printOneSource(program, /*withHeaders=*/true), {},
        cuda::compilerOptions(*nvrtc, options.arch));
    EXPECT_TRUE(bool(compiled))
        << options.filename << toString(compiled.takeError());
  }
}

// Elementwise copies, which need most registers, run on the oldest, and those
// of warpgroups where these are.
TEST_P(CudaProducts, EveryConfigCompiles) {
  Sources all;
  collectProducts(all, arch, GetParam() == 80 ? 1 : 0);
  if (GetParam() == 90)
    collectProducts(all, arch, 1, /*ofGroups=*/true);
  ASSERT_GE(all.size(), 80u);
  expectFaultless(all);
}

INSTANTIATE_TEST_SUITE_P(, CudaProducts, testing::Values(80, 90),
                         [](const auto &info) {
                           return "sm_" + std::to_string(info.param);
                         });
INSTANTIATE_TEST_SUITE_P(, CudaGate, testing::Values(80, 86, 89, 90, 100, 120),
                         [](const auto &info) {
                           return "sm_" + std::to_string(info.param);
                         });
