//===- cudnn-convolution-test.cpp - convolutions by cuDNN -----------------===//
//
// mp.conv2d and its gradients as calls of cuDNN, on the emulated device and its
// emulated cuDNN, against sums in double. Every sum of the operands is exact in
// f32, so the bits must be those of the exact sum rounded once. The emulated
// library offers engines first that are wrong, or wrong for f32, or do not run.
//
//===----------------------------------------------------------------------===//
#include "ConvolutionCase.h"
#include "OnBothTargets.h"
#include "TestFiles.h"
#include "codegen/cuda/contraction/TuneModules.h"
#include "runtime/Session.h"
#include "runtime/cuda/CudnnDescriptor.h"
#include <fstream>
#include <random>

using namespace mp;
using namespace mp::test;

namespace {

/// Multiples of 1/8 in [-1, 1], whose sums of products are exact in f32.
Numbers randomNumbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  Numbers numbers(count);
  for (double &number : numbers)
    number = (static_cast<int>(random() % 17) - 8) / 8.0;
  return numbers;
}

Numbers rounded(const Numbers &numbers, ElementType type) {
  TensorType flat{type, {static_cast<int64_t>(numbers.size())}};
  return unpack(pack(numbers, type).data(), flat);
}

/// Compiles a function of one op, with a plan that gives its convolution to
/// cuDNN.
Program compileForCudnn(const std::string &text) {
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = "cuda";
  Program ours = llvm::cantFail(mp::compile(text, options));
  auto shapes = cuda::shapesOf(ours);
  EXPECT_EQ(shapes.size(), 1u) << text;
  options.cudnn = true;
  options.plan =
      "mp.plan 1 sm_80\n" + cuda::lineOf(shapes.front()) + " = cudnn\n";
  return llvm::cantFail(mp::compile(text, options));
}

const Call &callOf(const Program &program) {
  return std::get<Call>(program.entries.front().steps.front());
}

std::unique_ptr<Session> session() {
  SessionOptions options;
  options.device = {Device::Kind::Cuda, 0};
  return llvm::cantFail(Session::create(options));
}

/// Runs the first function. Returns the elements of its result, or an error.
llvm::Expected<Numbers> run(Program program,
                            const std::vector<Numbers> &inputs) {
  std::vector<std::string> bytes;
  std::string function = program.entries.front().function;
  for (auto [numbers, input] :
       llvm::zip_equal(inputs, program.entries.front().inputs))
    bytes.push_back(pack(numbers, input.type.element));
  auto runner = session();
  if (llvm::Error error = runner->load(std::move(program)))
    return std::move(error);
  Executable *executable = runner->find(function, 0);
  std::vector<TensorView> views;
  for (auto [data, input] : llvm::zip_equal(bytes, executable->entry().inputs))
    views.emplace_back(input.type.element, data);
  auto results = executable->run(views);
  if (!results)
    return results.takeError();
  return unpack((*results)[0].bytes().data(), results->type(0));
}

void expectSame(const Numbers &found, const Numbers &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(found[i], expected[i]) << "element " << i;
}

class CudnnConvolution : public testing::TestWithParam<ConvolutionCase> {
protected:
  const ConvolutionCase &shape = GetParam();
  Numbers input = randomNumbers(shape.inputCount(), 1),
          weight = randomNumbers(shape.weightCount(), 2),
          gradient = randomNumbers(shape.outputCount(), 3);

  void expectSums(Convolution op, const Numbers &a, const Numbers &b) {
    Program program = compileForCudnn(shape.module(op));
    EXPECT_TRUE(program.kernels.empty());
    ASSERT_EQ(callOf(program).routine, "cudnn.conv2d");
    auto result = run(std::move(program), {a, b});
    ASSERT_TRUE(bool(result)) << toString(result.takeError());
    expectSame(*result, rounded(shape.sums(op, a, b), shape.element()));
  }
};

TEST_P(CudnnConvolution, isTheSumRoundedOnce) {
  expectSums(Convolution::Forward, input, weight);
}
TEST_P(CudnnConvolution, hasTheGradientOfItsInput) {
  expectSums(Convolution::BackwardInput, gradient, weight);
}
TEST_P(CudnnConvolution, hasTheGradientOfItsWeight) {
  expectSums(Convolution::BackwardWeight, gradient, input);
}

using Case = ConvolutionCase;

INSTANTIATE_TEST_SUITE_P(
    Shapes, CudnnConvolution,
    testing::Values(
        Case("f32", {2, 6, 7, 5}, {4, 3, 3}).padded(1),
        Case("f16", {1, 9, 7, 8}, {6, 3, 3}).strided(2, 2).padded(1),
        Case("bf16", {3, 8, 5, 3}, {7, 3, 2}).strided(3, 2).padded(1, 0, 0, 1),
        Case("f32", {1, 11, 9, 2}, {3, 3, 3}).padded(2, 3, 2, 1).dilated(2, 3),
        Case("f16", {2, 5, 6, 6}, {4, 3, 3}).padded(1).grouped(2),
        Case("bf16", {1, 9, 8, 6}, {6, 3, 3})
            .strided(2, 1)
            .padded(1)
            .grouped(6)));

TEST(Cudnn, isCalledWithAllThatItNeeds) {
  Case shape = Case("f16", {2, 9, 8, 6}, {4, 3, 3})
                   .strided(2, 1)
                   .padded(1, 0, 0, 1)
                   .dilated(1, 2)
                   .grouped(2);
  Program program = compileForCudnn(shape.module(Convolution::BackwardInput));
  std::string text;
  llvm::raw_string_ostream os(text);
  print(program, os);
  EXPECT_HAS(text, "cudnn.conv2d");
  const Call &call = callOf(program);
  ASSERT_EQ(call.args.size(), 4u); // gradient, weight, result, workspace
  EXPECT_EQ(call.flops, 2u * 2 * 4 * 5 * 4 * 9 * 3);
  using List = std::vector<int64_t>;
  std::pair<const char *, Call::Attribute> expected[] = {
      {"kind", "backward_input"},
      {"input", List{2, 9, 8, 6}},
      {"weight", List{4, 3, 3, 3}},
      {"output", List{2, 4, 5, 4}},
      {"strides", List{2, 1}},
      {"low", List{1, 0}},
      {"high", List{0, 1}},
      {"dilations", List{1, 2}},
      {"type", "f16"},
      {"bias", int64_t(0)},
      {"compute", "f32"},
      {"workspace", int64_t(64 << 20)}};
  for (const auto &[name, value] : expected) {
    const Call::Attribute *found = call.find(name);
    ASSERT_TRUE(found) << name;
    EXPECT_TRUE(*found == value) << name;
  }
  // The plan counts the workspace.
  EXPECT_GE(program.entries.front().arenaBytes, uint64_t(64) << 20);
}

constexpr const char *biased = R"(
func.func @f(%x: tensor<1x4x5x3xbf16>, %w: tensor<2x3x3x3xbf16>,
             %b: tensor<2xbf16>) -> tensor<1x4x5x2xbf16> {
  %y = mp.conv2d %x, %w, %b low[1, 1] high[1, 1] :
    tensor<1x4x5x3xbf16>, tensor<2x3x3x3xbf16>, tensor<2xbf16>
  return %y : tensor<1x4x5x2xbf16>
})";

TEST(Cudnn, addsTheBiasBeforeTheRounding) {
  Case shape = Case("bf16", {1, 4, 5, 3}, {2, 3, 3}).padded(1);
  Numbers x = randomNumbers(shape.inputCount(), 1),
          w = randomNumbers(shape.weightCount(), 2), b = {0.0625, -3};
  Program program = compileForCudnn(biased);
  ASSERT_EQ(callOf(program).args.size(), 5u);
  auto result = run(std::move(program), {x, w, b});
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  Numbers sums = shape.sums(Convolution::Forward, x, w);
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] += b[i % 2];
  expectSame(*result, rounded(sums, ElementType::BF16));
}

TEST(Cudnn, multipliesF32InF32UnlessTf32IsAllowed) {
  // 1 + 2^-12 is not in tf32, which the emulated tensor cores cut to.
  double fine = 1 + 1.0 / 4096;
  for (auto [type, expected] :
       {std::pair("f32", fine), std::pair("tf32", 1.0)}) {
    Case shape(type, {1, 3, 3, 1}, {1, 3, 3});
    Numbers x(9), w(9);
    x[4] = fine, w[4] = 1;
    auto result =
        run(compileForCudnn(shape.module(Convolution::Forward)), {x, w});
    ASSERT_TRUE(bool(result)) << toString(result.takeError());
    EXPECT_EQ((*result)[0], expected) << type;
  }
}

TEST(Cudnn, saysWhenNoEngineWillDo) {
  Program program = compileForCudnn(
      Case("f32", {1, 3, 3, 1}, {1, 3, 3}).module(Convolution::Forward));
  auto &call = std::get<Call>(program.entries.front().steps.front());
  for (auto &[name, value] : call.attributes)
    if (name == "workspace")
      value = int64_t(0);
  EXPECT_HAS(message(session()->load(std::move(program))),
             "routine 'cudnn.conv2d': cuDNN has no engine for forward f32 "
             "1x3x3x1 by 1x3x3x1 that sums in f32, always in the same order, "
             "in 0 MiB of workspace; compile with a plan that does not name "
             "cudnn for it");
}

TEST(Cudnn, saysWhichAttributeItRefuses) {
  using namespace mp::cuda::dnn;
  const Library &library = llvm::cantFail(open());
  DescriptorBuilder incomplete(library, tensor);
  incomplete.set(tensorUniqueId, {1}).set(tensorDimensions, {1, 2, 3, 4});
  EXPECT_EQ(message(incomplete.finalize()),
            "cuDNN: cudnnBackendFinalize failed: CUDNN_STATUS_BAD_PARAM "
            "(2000): attribute 900 is missing");
  DescriptorBuilder wrong(library, convolution);
  wrong.set(tensorUniqueId, {1}).set(convolutionSpatialDims, {2});
  EXPECT_EQ(message(wrong.finalize()),
            "cuDNN: cudnnBackendSetAttribute failed: CUDNN_STATUS_BAD_PARAM "
            "(2000): a descriptor of kind 1 has no attribute 906 (attribute "
            "906)");
}

TEST(Cudnn, isNotCalledUnlessItIsThere) {
  Case shape = Case("f16", {1, 5, 5, 8}, {8, 3, 3});
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = "cuda";
  std::string text = shape.module(Convolution::Forward);
  auto shapes = cuda::shapesOf(llvm::cantFail(mp::compile(text, options)));
  ASSERT_EQ(shapes.size(), 1u);
  options.plan = "mp.plan 1 sm_80\n" + cuda::lineOf(shapes[0]) + " = cudnn\n";
  Program program = llvm::cantFail(mp::compile(text, options));
  EXPECT_TRUE(
      std::holds_alternative<Launch>(program.entries.front().steps.front()));
}

} // namespace
