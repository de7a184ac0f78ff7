//===- onednn-test.cpp - the routine "dnnl.matmul" against a naive one ----===//
#include "runtime/Session.h"
#include "runtime/cpu/Onednn.h"
#include "runtime/cpu/OnednnMatmul.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

using namespace mp;
using Space = BufferRef::Space;

namespace {

uint16_t toBf16(float value) {
  llvm::APFloat wide(value);
  bool inexact;
  wide.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
               &inexact);
  return wide.bitcastToAPInt().getZExtValue();
}

double load(const char *base, int64_t index, ElementType type) {
  if (type == ElementType::F32)
    return reinterpret_cast<const float *>(base)[index];
  uint32_t bits = uint32_t(reinterpret_cast<const uint16_t *>(base)[index])
                  << 16;
  return llvm::bit_cast<float>(bits);
}

/// Multiples of 1/8 in [-1, 1]: sums of products are exact in f32, so that any
/// order of summation gives the same bits.
std::vector<char> randomTensor(int64_t elements, ElementType type,
                               unsigned seed) {
  std::mt19937 random(seed);
  std::vector<char> bytes(elements * byteWidth(type));
  for (int64_t i = 0; i < elements; ++i) {
    float value = (int(random() % 17) - 8) / 8.0f;
    if (type == ElementType::F32)
      reinterpret_cast<float *>(bytes.data())[i] = value;
    else
      reinterpret_cast<uint16_t *>(bytes.data())[i] = toBf16(value);
  }
  return bytes;
}

struct Case {
  int64_t m, n, k, block;
  bool transposeA, transposeB;
  ElementType type, result;
  std::optional<ElementType> bias;
  bool relu;
};

void PrintTo(const Case &c, std::ostream *os) {
  *os << c.m << "x" << c.k << "x" << c.n << " block " << c.block
      << (c.transposeA ? " A'" : "") << (c.transposeB ? " B'" : "") << " "
      << elementTypeName(c.type).str() << " to "
      << elementTypeName(c.result).str()
      << (c.bias ? " bias " + elementTypeName(*c.bias).str() : "")
      << (c.relu ? " relu" : "");
}

Program programOf(const Case &c) {
  Entry entry;
  entry.function = "main";
  entry.inputs = {{"a", {c.type, {c.m, c.k}}, {}, {}, {}},
                  {"b", {c.type, {c.k, c.n}}, {}, {}, {}}};
  Call call;
  call.routine = "dnnl.matmul";
  call.grid = c.m;
  call.block = c.block;
  auto name = [](ElementType type) { return elementTypeName(type).str(); };
  std::vector<int64_t> aStrides = {c.k, 1}, bStrides = {c.n, 1};
  if (c.transposeA)
    aStrides = {1, c.m};
  if (c.transposeB)
    bStrides = {1, c.k};
  call.attributes = {{"m", c.m},
                     {"n", c.n},
                     {"k", c.k},
                     {"a_strides", aStrides},
                     {"b_strides", bStrides},
                     {"a_type", name(c.type)},
                     {"c_type", name(c.result)},
                     {"bias", int64_t(c.bias.has_value())},
                     {"relu", int64_t(c.relu)}};
  call.args = {{Space::Staging, 0, 0}, {Space::Staging, 1, 0}};
  if (c.bias) {
    entry.inputs.push_back({"bias", {*c.bias, {c.n}}, {}, {}, {}});
    call.attributes.push_back({"bias_type", name(*c.bias)});
    call.args.push_back({Space::Staging, 2, 0});
  }
  call.args.push_back({Space::Arena, 0, 0});
  entry.results = {{"c", {c.result, {c.m, c.n}}, {Space::Arena, 0, 0}}};
  entry.arenaBytes = entry.results[0].type.bytes();
  entry.steps = {call};
  Program program;
  program.target = "cpu";
  program.entries = {entry};
  return program;
}

using Tensors = std::vector<std::vector<char>>;

Tensors inputsOf(const Case &c) {
  Tensors tensors = {randomTensor(c.m * c.k, c.type, 1),
                     randomTensor(c.k * c.n, c.type, 2)};
  if (c.bias)
    tensors.push_back(randomTensor(c.n, *c.bias, 3));
  return tensors;
}

std::string runCase(const Case &c, const Tensors &inputs, unsigned threads,
                    int runs = 1) {
  auto session = llvm::cantFail(Session::create({threads}));
  if (llvm::Error error = session->load(programOf(c))) {
    ADD_FAILURE() << llvm::toString(std::move(error));
    return "";
  }
  Executable *main = session->find("main", 0);
  std::vector<TensorView> views;
  for (const auto &[input, tensor] :
       llvm::zip_equal(main->entry().inputs, inputs))
    views.emplace_back(input.type.element, tensor.data(), input.type.bytes());
  Executable::Results results;
  for (int i = 0; i < runs; ++i)
    results = llvm::cantFail(main->run(views));
  return {static_cast<const char *>(results[0].data()),
          main->entry().results[0].type.bytes()};
}

class Matmul : public testing::TestWithParam<Case> {
  void SetUp() override {
    if (!onednnAvailable())
      GTEST_SKIP() << "no oneDNN on this machine";
    if (onednnMatmulKernel(GetParam().type).empty())
      GTEST_SKIP() << "no kernel for this type on this CPU";
  }
};

TEST_P(Matmul, EqualsTheNaiveProduct) {
  const Case &c = GetParam();
  Tensors inputs = inputsOf(c);
  std::string result = runCase(c, inputs, 2);
  for (int64_t row = 0; row < c.m; ++row)
    for (int64_t column = 0; column < c.n; ++column) {
      double sum = c.bias ? load(inputs[2].data(), column, *c.bias) : 0;
      for (int64_t i = 0; i < c.k; ++i)
        sum += load(inputs[0].data(),
                    c.transposeA ? i * c.m + row : row * c.k + i, c.type) *
               load(inputs[1].data(),
                    c.transposeB ? column * c.k + i : i * c.n + column, c.type);
      if (c.relu)
        sum = std::max(sum, 0.0);
      if (c.result == ElementType::BF16) {
        uint32_t bits = uint32_t(toBf16(float(sum))) << 16;
        sum = llvm::bit_cast<float>(bits);
      }
      ASSERT_EQ(load(result.data(), row * c.n + column, c.result), sum)
          << row << ", " << column;
    }
}

TEST_P(Matmul, DoesNotDependOnTheNumberOfThreads) {
  const Case &c = GetParam();
  Tensors inputs = inputsOf(c);
  std::string one = runCase(c, inputs, 1);
  EXPECT_EQ(runCase(c, inputs, 2, 3), one);
  EXPECT_EQ(runCase(c, inputs, 3), one);
}

std::vector<Case> cases() {
  std::vector<Case> list;
  ElementType f32 = ElementType::F32, bf16 = ElementType::BF16;
  std::pair<ElementType, ElementType> types[] = {
      {f32, f32}, {bf16, f32}, {bf16, bf16}};
  for (auto [type, result] : types)
    for (int transposed = 0; transposed < 4; ++transposed) {
      bool a = transposed & 1, b = transposed & 2;
      list.push_back({37, 29, 65, 37, a, b, type, result, {}, false});
      list.push_back({128, 256, 784, 32, a, b, type, result, {}, true});
      list.push_back({100, 10, 33, 24, a, b, type, result, f32, true});
      list.push_back({7, 48, 1, 1, a, b, type, result, type, false});
    }
  list.push_back({1, 1, 1, 1, false, false, f32, f32, f32, true});
  list.push_back({5, 1, 300, 100, false, true, bf16, bf16, bf16, true});
  return list;
}
INSTANTIATE_TEST_SUITE_P(Shapes, Matmul, testing::ValuesIn(cases()));

TEST(Onednn, ReluKeepsNan) {
  if (!onednnAvailable())
    GTEST_SKIP() << "no oneDNN on this machine";
  Case c{1,  5,   1, 1, false, false, ElementType::F32, ElementType::F32,
         {}, true};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  auto bytes = [](std::vector<float> values) {
    const char *data = reinterpret_cast<const char *>(values.data());
    return std::vector<char>(data, data + values.size() * sizeof(float));
  };
  Tensors inputs = {bytes({1}), bytes({nan, -0.0f, -infinity, infinity, 2})};
  std::string result = runCase(c, inputs, 1);
  const float *values = reinterpret_cast<const float *>(result.data());
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_FALSE(std::signbit(values[1]));
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[2], 0);
  EXPECT_EQ(values[3], infinity);
  EXPECT_EQ(values[4], 2);

  if (onednnMatmulKernel(ElementType::BF16).empty())
    return;
  c.result = c.type = ElementType::BF16;
  std::vector<char> one(2), narrow(10);
  uint16_t bits[] = {0x7fc0, 0x8000, 0xff80, 0x7f80, 0x4000}, unit = 0x3f80;
  std::memcpy(one.data(), &unit, 2);
  std::memcpy(narrow.data(), bits, 10);
  result = runCase(c, {one, narrow}, 1);
  const uint16_t *words = reinterpret_cast<const uint16_t *>(result.data());
  EXPECT_GT(words[0] & 0x7fff, 0x7f80);
  EXPECT_EQ(words[1], 0);
  EXPECT_EQ(words[2], 0);
  EXPECT_EQ(words[3], 0x7f80);
  EXPECT_EQ(words[4], 0x4000);
}

std::string problem(const Program &program) {
  auto session = llvm::cantFail(Session::create({1}));
  return llvm::toString(session->load(program));
}

Call &callOf(Program &program) {
  return std::get<Call>(program.entries[0].steps[0]);
}

TEST(Onednn, ChecksAttributes) {
  const Case plain{
      4, 4, 4, 4, false, false, ElementType::F32, ElementType::F32, {}, false};
  Program program = programOf(plain);
  callOf(program).attributes.erase(callOf(program).attributes.begin());
  EXPECT_EQ(problem(program),
            "routine 'dnnl.matmul': attribute 'm' is missing");
  program = programOf(plain);
  callOf(program).attributes[0].second = std::string("4");
  EXPECT_EQ(problem(program),
            "routine 'dnnl.matmul': attribute 'm' is of a wrong type");
  program = programOf(plain);
  callOf(program).attributes[2].second = int64_t(0);
  EXPECT_EQ(problem(program), "routine 'dnnl.matmul': attribute 'k' must be "
                              "positive, found 0");
  program = programOf(plain);
  callOf(program).attributes[3].second = std::vector<int64_t>{4};
  EXPECT_EQ(problem(program), "routine 'dnnl.matmul': attribute 'a_strides' "
                              "must be two positive strides");
  program = programOf(plain);
  callOf(program).attributes[5].second = std::string("f16");
  EXPECT_EQ(problem(program), "routine 'dnnl.matmul': attribute 'a_type' must "
                              "be f32 or bf16, found 'f16'");
  program = programOf(plain);
  callOf(program).grid = 3;
  EXPECT_EQ(problem(program), "routine 'dnnl.matmul': expected a grid of m = 4 "
                              "rows, found 3");
  program = programOf(plain);
  callOf(program).args.pop_back();
  EXPECT_EQ(problem(program),
            "routine 'dnnl.matmul': expected 3 arguments, found 2");
}

TEST(Onednn, SaysWhatItFound) {
  if (!onednnAvailable())
    GTEST_SKIP() << "no oneDNN on this machine";
  EXPECT_TRUE(llvm::StringRef(onednnVersion()).starts_with("2."));
  EXPECT_NE(onednnMatmulKernel(ElementType::F32), "");
  EXPECT_EQ(onednnMatmulKernel(ElementType::F64), "");
}

// Runs in a process of its own, since the library is opened once.
TEST(OnednnDeathTest, NamesWhatItTried) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("MP_DNNL_PATH", "/nowhere/libdnnl.so", 1);
        std::string message = llvm::toString(dnnl::open().takeError());
        fprintf(stderr, "%s|%d|%s", message.c_str(), onednnAvailable(),
                onednnVersion().c_str());
        exit(0);
      },
      testing::ExitedWithCode(0),
      "cannot open oneDNN: tried MP_DNNL_PATH=/nowhere/libdnnl.so: .*No such "
      "file.*\\|0\\|$");
}

} // namespace
