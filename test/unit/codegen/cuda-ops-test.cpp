//===- cuda-ops-test.cpp - every op on CUDA against the CPU ---------------===//
//
// The generated CUDA of every op runs in the emulator (test/emulator) through
// the whole runtime, and gives the CPU's results: forward and backward, in f32,
// f16 and bf16, with odd sizes.
//
// Elementwise ops are the same operations on both targets and so give the same
// bits; sums have another order, so that f32 results differ by a few units in
// the last place of their largest term, and rounded ones by one rounding.
//
//===----------------------------------------------------------------------===//
#include "OpGoldens.h"
#include "OpSamples.h"
#include "OptimizerModule.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <array>
#include <cmath>

using namespace llvm;
using namespace mp;

namespace {
/// In the gradients of attention, sums cancel; and tensor cores multiply
/// weights that are rounded to 16 bits.
double widening(const std::string &module, const TensorType &type) {
  if (!StringRef(module).contains("dot_product_attention"))
    return 1;
  bool rounds =
      type.element == ElementType::F16 || type.element == ElementType::BF16;
  return rounds ? 8 : 4;
}

/// Relative to the largest element of a result.
double tolerance(const TensorType &type) {
  switch (type.element) {
  case ElementType::F16:
    return 0x1p-10;
  case ElementType::BF16:
    return 0x1p-7;
  case ElementType::F32:
    return 0x1p-19;
  case ElementType::F64:
    return 0x1p-48;
  default:
    return 0;
  }
}

/// Returns the difference as text, or "".
std::string difference(const Numbers &cpu, const Numbers &cuda,
                       double relative) {
  if (cpu.size() != cuda.size())
    return "sizes differ";
  double largest = 0;
  for (double value : cpu)
    if (std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < cpu.size(); ++i) {
    bool same =
        cpu[i] == cuda[i] || (std::isnan(cpu[i]) && std::isnan(cuda[i]));
    if (!same && !(std::abs(cpu[i] - cuda[i]) <= relative * largest))
      return "element " + std::to_string(i) + " is " + std::to_string(cuda[i]) +
             ", on the CPU " + std::to_string(cpu[i]);
  }
  return "";
}

class CudaOps : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("MP_CUDA_PATH", MP_EMULATOR_DIR, 1);
    setenv("MP_CACHE_DIR", "off", 1);
  }

  /// Runs a function on both targets.
  void compare(const std::string &module, StringRef name,
               ArrayRef<Numbers> inputs) {
    std::vector<Numbers> results[2];
    std::vector<Result> types;
    for (Device device : {Device{}, Device{Device::Kind::Cuda, 0}}) {
      auto function = GoldenFunction::compile(module, name, device);
      if (!function) {
        ADD_FAILURE() << device.str() << ": " << toString(function.takeError())
                      << "\n"
                      << module;
        return;
      }
      auto outputs = (*function)(inputs);
      if (!outputs) {
        ADD_FAILURE() << toString(outputs.takeError()) << "\n" << module;
        return;
      }
      results[device.kind == Device::Kind::Cuda] = std::move(*outputs);
      types = function->entry().results;
    }
    for (size_t i = 0; i < types.size(); ++i)
      EXPECT_EQ(difference(results[0][i], results[1][i],
                           tolerance(types[i].type) *
                               widening(module, types[i].type)),
                "")
          << "result " << i << " of @" << name.str() << " in\n"
          << module;
  }
};

/// A part of the samples: parts run at the same time. A sample takes one of the
/// types, in turn: goldens have each op in all of them.
constexpr unsigned kParts = 4;
class CudaOpSamples : public CudaOps,
                      public testing::WithParamInterface<unsigned> {};

class CudaOpGoldens : public CudaOps,
                      public testing::WithParamInterface<std::string> {};
} // namespace

TEST_P(CudaOpSamples, Agree) {
  constexpr const char *kTypes[] = {"f32", "f16", "bf16"};
  unsigned compared = 0;
  std::vector<OpSample> samples = differentiableSamples();
  for (size_t i = GetParam(); i < samples.size(); i += kParts) {
    auto modules = sampleModules(samples[i], kTypes[i / kParts % 3]);
    if (!modules)
      continue;
    compare(modules->forward, "f", modules->operands);
    compare(modules->backward, "f.gradient", modules->operands);
    ++compared;
  }
  EXPECT_GE(compared, 25u);
}

INSTANTIATE_TEST_SUITE_P(Parts, CudaOpSamples, testing::Range(0u, kParts));

// Ops without a gradient run too, and on edges: zeros of both signs, NaN,
// infinity.
TEST_P(CudaOpGoldens, Agree) {
  OpGoldenFile file = readOpGoldens(GetParam());
  unsigned halves = 0;
  for (const auto *goldens : {&file.forward, &file.backward})
    for (const OpGolden &golden : *goldens) {
      // f16 and bf16 are as f32 but for how an element is loaded, stored and
      // multiplied: every fourth one is enough. The search has all of them.
      bool isHalf = StringRef(golden.module).contains("f16>");
      if (!isHalf || halves++ % 4 == 0)
        compare(golden.module, golden.function, golden.inputs);
    }
}

INSTANTIATE_TEST_SUITE_P(Families, CudaOpGoldens,
                         testing::ValuesIn(opGoldenFamilies()),
                         [](const auto &info) { return info.param; });

// Reductions of both directions in one function: few rows make blocks of few
// threads, which share launches with larger ones.
TEST_F(CudaOps, AgreeOnSumsOfRowsAndColumns) {
  for (auto [rows, columns] :
       {std::pair(3, 1000), std::pair(4, 1000), std::pair(6, 1000),
        std::pair(3, 513), std::pair(3, 255), std::pair(1, 7),
        std::pair(40, 300)}) {
    std::string shape =
        std::to_string(rows) + "x" + std::to_string(columns) + "xf32";
    std::string module = formatv(R"(
func.func @f(%x: tensor<{0}>) -> (tensor<{2}xf32>, tensor<{1}xf32>, tensor<{0}>, tensor<{0}>) {{
  %a = mp.sum %x dims[0] : tensor<{0}>
  %b = mp.max %x dims[1] : tensor<{0}>
  %c = mp.softmax %x dim(0) : tensor<{0}>
  %d = mp.softmax %x dim(1) : tensor<{0}>
  return %a, %b, %c, %d : tensor<{2}xf32>, tensor<{1}xf32>, tensor<{0}>, tensor<{0}>
})",
                                 shape, rows, columns);
    Numbers x(rows * columns);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(i * 0.37);
    compare(module, "f", {x});
  }
}

// C++ promotes integers narrower than an int, and its literals are ints.
/// A value that depends on the column alone is read once for all its rows.
TEST_F(CudaOps, AgreeOnSumsOfColumnsWithIntegersOfThem) {
  Numbers values, factors;
  for (int i = 0; i < 33 * 7; ++i)
    values.push_back((i * 37) % 128);
  for (int i = 0; i < 7; ++i)
    factors.push_back(i % 2);
  for (std::string type :
       {"i1", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64"})
    compare("func.func @f(%x: tensor<33x7xf32>, %c: tensor<7x" + type +
                ">) -> tensor<7xf32> {\n  %f = mp.cast %c : tensor<7x" + type +
                "> to tensor<7xf32>\n  %p = mp.mul %x, %f : "
                "tensor<33x7xf32>, tensor<7xf32>\n  %r = mp.sum %p dims[0] : "
                "tensor<33x7xf32>\n  return %r : tensor<7xf32>\n}\n",
            "", {values, factors});
}

TEST_F(CudaOps, AgreeOnNarrowIntegers) {
  Numbers values;
  for (int i = 0; i < 33 * 7; ++i)
    values.push_back((i * 37) % 128);
  values[5] = 127;
  for (StringRef type : {"i8", "ui8", "i16", "ui16"}) {
    std::string x = ("tensor<33x7x" + type + ">").str();
    std::string c = ("tensor<" + type + ">").str();
    for (std::string op : {"add", "sub", "mul", "div", "maximum", "minimum"})
      compare("func.func @f(%x: " + x + ") -> " + x +
                  " {\n  %c = mp.constant dense<3> : " + c + "\n  %r = mp." +
                  op + " %x, %c : " + x + ", " + c + "\n  return %r : " + x +
                  "\n}\n",
              "", {values});
    for (std::string op : {"sum", "max", "min"})
      for (std::string dims : {"0", "1"}) {
        std::string r =
            (dims == "0" ? "tensor<7x" : "tensor<33x") + type.str() + ">";
        compare("func.func @f(%x: " + x + ") -> " + r + " {\n  %r = mp." + op +
                    " %x dims[" + dims + "] : " + x + "\n  return %r : " + r +
                    "\n}\n",
                "", {values});
      }
  }
}

TEST_F(CudaOps, AgreeOnOptimizerSteps) {
  json::Object file = cantFail(readGolden("optimizers.json"));
  for (const json::Value &item : *file.getArray("optimizers")) {
    const json::Object &golden = *item.getAsObject();
    OptimizerModule module =
        optimizerModule(*golden.getString("optimizer"), "3x4");
    auto numbers = [&](const json::Value &tensor) {
      return cantFail(goldenNumbers(*tensor.getAsObject()));
    };
    Numbers start = numbers(*golden.get("start"));
    std::vector<Numbers> inputs = {
        numbers(golden.getArray("gradients")->front()),
        {*golden.getNumber("lr")},
        {3},
        start};
    inputs.resize(inputs.size() + module.slots.size(),
                  Numbers(start.size(), 0.25));
    compare(module.text, "update", inputs);
  }
}

TEST_F(CudaOps, AgreeOnSchedules) {
  json::Object file = cantFail(readGolden("optimizers.json"));
  for (const json::Value &item : *file.getArray("schedules")) {
    std::string schedule = item.getAsObject()->getString("schedule")->str();
    compare("func.func @f(%t: tensor<i64>) -> tensor<f32> {\n  %f = "
            "mp.schedule %t by " +
                schedule + "\n  return %f : tensor<f32>\n}\n",
            "", {Numbers(1, 13)});
  }
}
