//===- cuda-merge-test.cpp - one launch for many kernels ------------------===//
//
// Independent launches become one, of bodies that each stand for parts of
// several sizes. They run on the emulated device through the whole runtime,
// against the CPU, where nothing is merged: the bits are equal.
//
//===----------------------------------------------------------------------===//
#include "EmulatedDevice.h"
#include "TrainingSession.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mp;
using namespace mp::test;

namespace {

constexpr Device onCuda = {Device::Kind::Cuda, 0};
constexpr int64_t kBatch = 4;

/// This must run before anything opens CUDA.
const bool emulated = [] {
  setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
  setenv("MP_CACHE_DIR", "off", 1);
  return true;
}();

Program compileFor(StringRef module, StringRef target) {
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = target.str();
  return cantFail(mp::compile(module, options));
}

/// Returns multiples of 1/8: exact in f16, as their sums are in f32.
Numbers numbers(int64_t count, unsigned seed) {
  Numbers result(count);
  for (auto [i, number] : enumerate(result))
    number = (static_cast<int>((i * 7919 + seed * 31) % 97) - 48) / 8.0;
  return result;
}

/// Returns small numbers, so that sums of products of several layers are exact
/// in f32.
Numbers weights(int64_t count) {
  Numbers result(count);
  for (auto [i, number] : enumerate(result))
    number = (static_cast<int>(i * 7919 % 9) - 4) / 8.0;
  return result;
}

const Entry &entryOf(const Program &program, StringRef function) {
  return *find_if(program.entries,
                  [&](const Entry &e) { return e.function == function; });
}

size_t launchesOf(const Entry &entry) {
  return count_if(entry.steps, [](const Step &step) {
    return std::holds_alternative<Launch>(step);
  });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Elements of odd sizes by one body and by others, a reduction of one block
/// and one of many, sums of rows, a scalar.
constexpr StringLiteral manyKinds = R"mlir(
  func.func @f(%a: tensor<1003xf32>, %b: tensor<5003xf32>, %c: tensor<37xf16>,
               %d: tensor<40001xf32>, %e: tensor<13x45xf32>, %s: tensor<f32>,
               %g: tensor<901xf32>)
      -> (tensor<1003xf32>, tensor<5003xf32>, tensor<37xf32>, tensor<f32>,
          tensor<f32>, tensor<13xf32>, tensor<f32>) {
    %0 = mp.relu %a : tensor<1003xf32>
    %1 = mp.relu %b : tensor<5003xf32>
    %2 = mp.cast %c : tensor<37xf16> to tensor<37xf32>
    %3 = mp.max %d dims[0] : tensor<40001xf32>
    %4 = mp.max %g dims[0] : tensor<901xf32>
    %5 = mp.sum %e dims[1] : tensor<13x45xf32>
    %6 = mp.exp %s : tensor<f32>
    return %0, %1, %2, %3, %4, %5, %6
      : tensor<1003xf32>, tensor<5003xf32>, tensor<37xf32>, tensor<f32>,
        tensor<f32>, tensor<13xf32>, tensor<f32>
  })mlir";

TEST(CudaMerge, BodiesOfManyKindsInOneLaunch) {
  std::vector<Numbers> inputs = {numbers(1003, 1),    numbers(5003, 2),
                                 numbers(37, 3),      numbers(40001, 4),
                                 numbers(13 * 45, 5), {0.5},
                                 numbers(901, 6)};
  auto cpu = cantFail(GoldenFunction::compile(manyKinds));
  auto cuda = cantFail(GoldenFunction::compile(manyKinds, "", onCuda));
  auto expected = cantFail(cpu(inputs)), got = cantFail(cuda(inputs));
  for (auto [i, numbers] : enumerate(expected))
    EXPECT_EQ(got[i], numbers) << "result " << i;
  // The CPU has one launch for each result; on CUDA all are one, except the
  // second half of the long maximum.
  EXPECT_EQ(launchesOf(entryOf(compileFor(manyKinds, "cpu"), "f")), 7u);
  Program program = compileFor(manyKinds, "cuda");
  const Entry &entry = entryOf(program, "f");
  ASSERT_EQ(launchesOf(entry), 2u);
  EXPECT_TRUE(std::get<Launch>(entry.steps[0]).table);
}

// Parts of one kind share one text, whatever their sizes.
TEST(CudaMerge, SizesShareABody) {
  Program program = compileFor(manyKinds, "cuda");
  size_t maxima = 0;
  StringRef code = program.kernels[0].code;
  for (size_t at = 0;
       (at = code.find("reduceLine<256>", at)) != StringRef::npos; ++at)
    ++maxima;
  EXPECT_EQ(maxima, 1u) << code.str();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Three weights of odd sizes, the first of which takes several blocks.
constexpr int64_t kSizes[] = {67 * 37, 29 * 67, 5 * 29};
std::string network(StringRef optimizer) {
  return (R"mlir(
    mp.variable @u : tensor<67x37xf32> = #mp.init<zeros>
    mp.variable @v : tensor<29x67xf32> = #mp.init<zeros>
    mp.variable @w : tensor<5x29xf32> = #mp.init<zeros>
    func.func @loss(%x: tensor<?x37xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
      %u = mp.read @u : tensor<67x37xf32>
      %v = mp.read @v : tensor<29x67xf32>
      %w = mp.read @w : tensor<5x29xf32>
      %0 = mp.linear %x, %u : tensor<?x37xf32>, tensor<67x37xf32>
      %1 = mp.linear %0, %v : tensor<?x67xf32>, tensor<29x67xf32>
      %2 = mp.linear %1, %w : tensor<?x29xf32>, tensor<5x29xf32>
      %sum = mp.sum %2 dims[0, 1] : tensor<?x5xf32>
      return %sum : tensor<f32>
    }
    mp.scaler @scaler {preset = "torch", init_scale = 1.0}
    mp.train @step of @loss autocast(<dtype = f16>) scaler(@scaler) {
      mp.minimize result(0) {optimizer = )mlir" +
          optimizer + "}\n}")
      .str();
}

void expectSameState(TrainingSession &cpu, TrainingSession &cuda) {
  for (const Variable &variable : cpu.variables())
    EXPECT_EQ(cuda.read(variable.name), cpu.read(variable.name))
        << variable.name;
}

// Updates and copies under a flag, in one launch: done, then not.
TEST(CudaMerge, WritesUnderAFlag) {
  std::string module = network("#mp.sgd<lr = 0.0009765625>");
  TrainingSession cpu(module, kBatch), cuda(module, kBatch, onCuda);
  for (TrainingSession *session : {&cpu, &cuda})
    for (auto [name, size] : zip_equal(ArrayRef{"u", "v", "w"}, kSizes))
      session->write(name, weights(size));
  Numbers good(kBatch * 37, 0.125), bad(kBatch * 37, 60000);
  for (const Numbers &input : {good, bad, good}) {
    bool isBad = input[0] > 1;
    EXPECT_EQ(cpu.skips(input), isBad);
    EXPECT_EQ(cuda.skips(input), isBad);
    expectSameState(cpu, cuda);
  }
  EXPECT_EQ(cuda.read("step.applied")[0], 2);
  EXPECT_EQ(cuda.read("step.attempted")[0], 3);
}

/// Returns the launch that updates the weights: the one that has each of them
/// twice.
const Launch &updateOf(const Program &program) {
  const Launch *found = nullptr;
  for (const Step &step : entryOf(program, "step").steps) {
    auto *launch = std::get_if<Launch>(&step);
    auto uses = [&](StringRef name) {
      return count_if(launch->args, [&](const BufferRef &ref) {
        return ref.space == BufferRef::Space::Variable &&
               program.variables[ref.index].name == name;
      });
    };
    if (launch && uses("u") == 2 && uses("v") == 2 && uses("w") == 2) {
      EXPECT_EQ(found, nullptr) << "two launches update the weights";
      found = launch;
    }
  }
  return *found;
}

/// The traffic of a kernel's last run in the emulator.
struct Traffic {
  uint64_t read = 0, written = 0;
};
Traffic lastRun(const std::string &log, StringRef symbol) {
  Traffic traffic;
  std::string text = readText(log);
  for (StringRef line : split(text, '\n')) {
    if (!line.starts_with(symbol))
      continue;
    auto number = [&](StringRef key) {
      uint64_t value = 0;
      line.split(key).second.consumeInteger(10, value);
      return value;
    };
    traffic = {number(" read="), number(" written=")};
  }
  return traffic;
}

/// Returns the bytes by the plan: those of the launch's arguments that are not
/// scalars. A weight that is read and written is there twice.
uint64_t plannedBytes(const TrainingSession &session, const Launch &launch) {
  const Entry &entry = entryOf(session.program, "step");
  auto step = find_if(entry.steps, [&](const Step &step) {
    return std::get_if<Launch>(&step) == &launch;
  });
  uint32_t now = step - entry.steps.begin();
  uint64_t bytes = 0;
  for (const BufferRef &ref : launch.args) {
    uint64_t size = 0;
    if (ref.space == BufferRef::Space::Variable)
      size = session.program.variables[ref.index].type.bytes();
    for (const Buffer &buffer : entry.buffers)
      if (ref.space == BufferRef::Space::Arena && buffer.offset == ref.offset &&
          buffer.firstStep <= now && now <= buffer.lastStep)
        size = buffer.bytes;
    bytes += size > 8 ? size : 0;
  }
  return bytes;
}

/// `bytes` a parameter, and `scalars` bytes that every thread reads.
void expectTraffic(StringRef recipe, uint64_t bytes, uint64_t scalars) {
  SCOPED_TRACE(recipe.str());
  TrainingSession cuda(network(recipe), kBatch, onCuda);
  const Launch &update = updateOf(cuda.program);
  StringRef symbol = cuda.program.kernels[update.kernel].symbol;
  for (auto [name, size] : zip_equal(ArrayRef{"u", "v", "w"}, kSizes))
    cuda.write(name, weights(size));
  std::string log = testing::TempDir() + "cuda-merge.log";
  setenv("MP_EMULATOR_LOG", log.c_str(), 1);
  EXPECT_FALSE(cuda.skips(Numbers(kBatch * 37, 0.125)));
  Traffic done = lastRun(log, symbol);
  EXPECT_TRUE(cuda.skips(Numbers(kBatch * 37, 60000)));
  Traffic skipped = lastRun(log, symbol);
  unsetenv("MP_EMULATOR_LOG");
  std::remove(log.c_str());

  // Every thread reads the flag and, unless it is clear, scalars; a block has
  // 1024 elements. Counters are copied as well, a block for each.
  uint64_t elements = 0, threads = 0;
  for (int64_t size : kSizes) {
    elements += size;
    threads += divideCeil(size, 1024) * 256;
  }
  uint64_t copiers = update.grid * 256 - threads;
  EXPECT_EQ(plannedBytes(cuda, update), bytes * elements);
  uint64_t copied = done.written - bytes / 2 * elements;
  EXPECT_LE(copied, 16u);
  EXPECT_EQ(done.read,
            bytes / 2 * elements + (1 + scalars) * threads + copiers + copied);
  EXPECT_EQ(skipped.read, threads + copiers);
  EXPECT_EQ(skipped.written, 0u);
}

// Clipping is one factor more; an average is read and written, and needs the
// count of steps.
TEST(CudaMerge, UpdateMoves28BytesAParameter) {
  expectTraffic("#mp.adamw<lr = 1.0e-3>", 28, 16);
  expectTraffic("#mp.adamw<lr = 1.0e-3>, clip_norm = 1.0", 28, 20);
  expectTraffic("#mp.adamw<lr = 1.0e-3>, clip_norm = 1.0, ema = 0.999", 36, 28);
}

} // namespace
