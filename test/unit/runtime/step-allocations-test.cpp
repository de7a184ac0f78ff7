//===- step-allocations-test.cpp - no allocation in a step ----------------===//
//
// A step on the CPU allocates no memory, and converts nothing to another
// layout. This executable's own malloc and mmap count the calls.
//
//===----------------------------------------------------------------------===//
#include "codegen/Compile.h"
#include "mantissa-c.h"
#include "mantissa.h"
#include "runtime/Session.h"
#include "runtime/cpu/Onednn.h"
#include "llvm/Support/MemoryBuffer.h"
#include <atomic>
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MP_SANITIZED // which needs its own malloc
#endif
#endif

namespace {

std::atomic<bool> counting = false;
std::atomic<uint64_t> ours = 0, onednns = 0;
/// The address range of oneDNN's code: its primitives may allocate.
uintptr_t onednnBegin = 0, onednnEnd = 0;

int findOnednn(dl_phdr_info *info, size_t, void *) {
  if (!llvm::StringRef(info->dlpi_name).contains("libdnnl"))
    return 0;
  onednnBegin = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    onednnEnd = std::max<uintptr_t>(onednnEnd, onednnBegin +
                                                   info->dlpi_phdr[i].p_vaddr +
                                                   info->dlpi_phdr[i].p_memsz);
  return 1;
}

[[maybe_unused]] void count() {
  if (!counting.load(std::memory_order_relaxed))
    return;
  static thread_local bool inside = false;
  if (inside)
    return;
  inside = true;
  void *frames[48];
  int depth = backtrace(frames, 48);
  bool isOnednn = false;
  for (int i = 0; i < depth; ++i) {
    auto address = reinterpret_cast<uintptr_t>(frames[i]);
    isOnednn |= onednnBegin <= address && address < onednnEnd;
  }
  ++(isOnednn ? onednns : ours);
  inside = false;
}

} // namespace

#ifndef MP_SANITIZED
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void *calloc(size_t number, size_t bytes) {
  count();
  return __libc_calloc(number, bytes);
}
void *realloc(void *old, size_t bytes) {
  count();
  return __libc_realloc(old, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **to, size_t alignment, size_t bytes) {
  count();
  *to = __libc_memalign(alignment, bytes);
  return *to ? 0 : ENOMEM;
}
void *mmap(void *address, size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  count();
  using Function = decltype(&mmap);
  static auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "mmap"));
  return next(address, bytes, protection, flags, file, offset);
}
}
#endif

using namespace mp;

namespace {

Program compileExample(llvm::StringRef precision, bool onednn) {
  auto buffer = llvm::MemoryBuffer::getFile(MP_SOURCE_DIR
                                            "/examples/fashion-mnist/mlp.mlir");
  CompileOptions options;
  options.batch = 128;
  options.precision = precision.str();
  options.totalSteps = 100;
  options.onednn = onednn;
  return llvm::cantFail(compile((*buffer)->getBuffer(), options));
}

/// Runs some steps, the first of them uncounted.
void runSteps(Program program) {
  SessionOptions options;
  options.threads = 2;
  auto session = llvm::cantFail(Session::create(options));
  llvm::cantFail(session->load(std::move(program)));
  llvm::cantFail(session->initialize(/*seed=*/0));
  Executable *step = session->find("step", 128);
  ASSERT_TRUE(step);
  std::vector<std::string> bytes;
  std::vector<TensorView> inputs;
  for (const Input &input : step->entry().inputs) {
    bytes.emplace_back(input.type.bytes() + 64, '\1');
    auto start = reinterpret_cast<uintptr_t>(bytes.back().data());
    inputs.emplace_back(input.type.element,
                        bytes.back().data() + llvm::alignTo(start, 64) - start,
                        input.type.bytes());
  }
  dl_iterate_phdr(findOnednn, nullptr);
  void *frame;
  backtrace(&frame, 1); // loads what it needs
  for (int i = 0; i < 8; ++i) {
    counting = i >= 3;
    auto results = step->run(inputs);
    counting = false;
    ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  }
}

class StepAllocations
    : public testing::TestWithParam<std::tuple<const char *, bool>> {};

TEST_P(StepAllocations, AreNone) {
#ifdef MP_SANITIZED
  GTEST_SKIP() << "a sanitizer has a malloc of its own";
#endif
  auto [precision, onednn] = GetParam();
  if (onednn && !onednnAvailable())
    GTEST_SKIP() << "no oneDNN";
  Program program = compileExample(precision, onednn);
  // A step calls products alone: oneDNN packs their operands itself, and
  // nothing is converted to a layout of oneDNN's before.
  unsigned calls = 0;
  for (const Entry &entry : program.entries)
    for (const Step &step : entry.steps)
      if (const auto *call = std::get_if<Call>(&step)) {
        EXPECT_EQ(call->routine, "dnnl.matmul");
        ++calls;
      }
  EXPECT_EQ(calls > 0, onednn && (llvm::StringRef(precision) == "fp32" ||
                                  (llvm::StringRef(precision) == "bf16" &&
                                   __builtin_cpu_supports("avx512bw"))));
  ours = onednns = 0;
  runSteps(std::move(program));
  EXPECT_EQ(ours, 0u) << "in five steps";
  if (calls == 0)
    EXPECT_EQ(onednns, 0u);
  RecordProperty("onednn_allocations", std::to_string(onednns));
}

INSTANTIATE_TEST_SUITE_P(
    Precisions, StepAllocations,
    testing::Combine(testing::Values("fp32", "fp16", "bf16"), testing::Bool()),
    [](const auto &info) {
      return std::string(std::get<0>(info.param)) +
             (std::get<1>(info.param) ? "WithOnednn" : "Generated");
    });

/// The same through mantissa.h, with tensors of the caller by name.
TEST(StepAllocations, AreNoneOnTensorsByName) {
#ifdef MP_SANITIZED
  GTEST_SKIP() << "a sanitizer has a malloc of its own";
#endif
  auto module = llvm::cantFail(
      mantissa::Module::read(MP_SOURCE_DIR "/examples/fashion-mnist/mlp.mlir"));
  mantissa::StepOptions options;
  options.batch = 128;
  options.totalSteps = 100;
  options.threads = 2;
  auto step = llvm::cantFail(module.compileStep(options));
  std::vector<uint8_t> image(128 * 28 * 28), label(128);
  void *frame;
  backtrace(&frame, 1); // loads what it needs
  ours = 0;
  for (int i = 0; i < 8; ++i) {
    counting = i >= 3;
    auto results =
        step.run({{"image", {image, {128, 28, 28}}}, {"label", label}});
    counting = false;
    ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  }
  EXPECT_EQ(ours, 0u) << "in five steps";
}

/// The same through mantissa-c.h, and results are read.
TEST(StepAllocations, AreNoneFromC) {
#ifdef MP_SANITIZED
  GTEST_SKIP() << "a sanitizer has a malloc of its own";
#endif
  mantissa_module *module = nullptr;
  mantissa_step *step = nullptr;
  const char *path = MP_SOURCE_DIR "/examples/fashion-mnist/mlp.mlir";
  mantissa_step_options options = MANTISSA_STEP_OPTIONS_INIT;
  options.batch = 128;
  options.total_steps = 100;
  options.threads = 2;
  ASSERT_EQ(mantissa_module_read(path, &module), nullptr);
  ASSERT_EQ(mantissa_module_compile_step(module, &options, &step), nullptr);
  std::vector<uint8_t> image(128 * 28 * 28), label(128);
  const mantissa_tensor inputs[] = {
      {"image", MANTISSA_U8, 3, {128, 28, 28}, image.data(), nullptr},
      {"label", MANTISSA_U8, 1, {128}, label.data(), nullptr}};
  mantissa_step_facts facts = MANTISSA_STEP_FACTS_INIT;
  double loss = 0;
  void *frame;
  backtrace(&frame, 1); // loads what it needs
  ours = 0;
  for (int i = 0; i < 8; ++i) {
    const mantissa_results *results = nullptr;
    counting = i >= 1;
    mantissa_status *status = mantissa_step_run(step, inputs, 2, &results);
    mantissa_status *read = mantissa_results_number(results, "loss", &loss);
    mantissa_status *got = mantissa_results_get_facts(results, &facts);
    counting = false;
    ASSERT_TRUE(!status && !read && !got) << mantissa_status_message(status);
  }
  EXPECT_EQ(ours, 0u) << "in the steps after the first one";
  EXPECT_EQ(facts.loss, loss);
  mantissa_step_destroy(step);
  mantissa_module_destroy(module);
}

/// This tests the counting itself.
/// This tests the counting itself.
TEST(StepAllocations, AreSeenWhereTheyAre) {
#ifdef MP_SANITIZED
  GTEST_SKIP() << "a sanitizer has a malloc of its own";
#endif
  ours = 0;
  counting = true;
  std::vector<char> made(1000);
  asm volatile("" : : "r"(made.data()) : "memory");
  counting = false;
  EXPECT_EQ(ours, 1u);
}

} // namespace
