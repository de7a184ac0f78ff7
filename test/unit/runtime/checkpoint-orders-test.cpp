//===- checkpoint-orders-test.cpp - weights with dimensions permuted ------===//
//
// Checkpoints, weights and exports of a variable [out, height, width, in] that
// files hold as [out, in, height, width].
//
//===----------------------------------------------------------------------===//
#include "FakeSession.h"
#include "TestFiles.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/CheckpointWeights.h"
#include <numeric>

using namespace mp;
using namespace mp::test;

namespace {

constexpr int64_t kOut = 2, kHeight = 3, kWidth = 3, kIn = 3;
constexpr int64_t kElements = kOut * kHeight * kWidth * kIn;
const std::vector<int64_t> kOihw = {0, 3, 1, 2};

/// Element [o, y, x, i] is numbered by its place in [o, i, y, x].
std::vector<float> numbersOfPyTorch() {
  std::vector<float> numbers;
  for (int64_t o = 0; o < kOut; ++o)
    for (int64_t y = 0; y < kHeight; ++y)
      for (int64_t x = 0; x < kWidth; ++x)
        for (int64_t i = 0; i < kIn; ++i)
          numbers.push_back(((o * kIn + i) * kHeight + y) * kWidth + x);
  return numbers;
}

RunState someState() {
  RunState state;
  state.accumulate = 1;
  return state;
}

class CheckpointOrdersTest : public testing::Test {
protected:
  /// A session with a weight of a convolution, its slot and a running mean.
  static void load(FakeSession &session, std::vector<int64_t> dims,
                   ElementType element = ElementType::F32) {
    TensorType weight{element, {kOut, kHeight, kWidth, kIn}};
    Program program;
    program.variables = FakeCompiler::variables(false);
    program.variables.push_back({"conv.weight",
                                 VariableKind::Parameter,
                                 weight,
                                 {},
                                 {"net.mlir", 7, 1},
                                 {},
                                 dims});
    program.variables.push_back(
        {"conv.weight.momentum",
         VariableKind::Slot,
         weight,
         {},
         {},
         {VariableRole::Kind::Slot, "conv.weight", "momentum"},
         dims});
    program.variables.push_back({"bn.running_mean",
                                 VariableKind::Buffer,
                                 {ElementType::F32, {kOut}},
                                 {},
                                 {}});
    llvm::cantFail(session.load(std::move(program)));
    llvm::cantFail(session.initialize(0));
  }
  CheckpointOrdersTest() { load(session, kOihw); }

  static std::vector<float> valuesOf(FakeSession &session,
                                     const std::string &name) {
    float *values = session.at<float>(name);
    return {values, values + kElements};
  }
  static void fill(FakeSession &session, const std::string &name) {
    llvm::copy(numbersOfPyTorch(), session.at<float>(name));
  }
  /// Writes "conv.weight" as 0, 1, 2, ... in this shape, and what else a file
  /// needs to be the weights of the session.
  std::string weightsFile(std::vector<int64_t> shape,
                          std::vector<NamedTensor> more = {}) {
    std::vector<float> numbers(TensorType{{}, shape}.elements());
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    std::vector<float> zeros(kOut);
    auto bytes = [](const std::vector<float> &values) {
      return llvm::ArrayRef(reinterpret_cast<const char *>(values.data()),
                            values.size() * sizeof(float));
    };
    more.push_back({"conv.weight", {ElementType::F32, shape}, bytes(numbers)});
    more.push_back({"w", {ElementType::F32, {}}, bytes(zeros).take_front(4)});
    more.push_back(
        {"bn.running_mean", {ElementType::F32, {kOut}}, bytes(zeros)});
    std::string path = folder.path("weights.safetensors");
    llvm::cantFail(writeSafetensors(path, std::move(more), {}));
    return path;
  }
  std::vector<char> bytesIn(const std::string &path, const std::string &name) {
    auto file = llvm::cantFail(readSafetensors(path));
    Array tensor = file.tensors.at(name);
    EXPECT_EQ(tensor.type.shape,
              (std::vector<int64_t>{kOut, kIn, kHeight, kWidth}));
    return tensor.bytes.vec();
  }
  static std::vector<char> ascending() {
    std::vector<float> numbers(kElements);
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    auto *bytes = reinterpret_cast<const char *>(numbers.data());
    return {bytes, bytes + kElements * sizeof(float)};
  }

  TestFolder folder;
  std::string path = folder.path("checkpoint.safetensors");
  FakeSession session;
};

TEST_F(CheckpointOrdersTest, WeightsAreReadInTheOrderOfTheFile) {
  std::string file = weightsFile({kOut, kIn, kHeight, kWidth});
  ASSERT_EQ(message(loadWeights(file, session)), "no error");
  EXPECT_EQ(valuesOf(session, "conv.weight"), numbersOfPyTorch());
}

TEST_F(CheckpointOrdersTest, WeightsAreConvertedAndPermuted) {
  FakeSession half;
  load(half, kOihw, ElementType::BF16);
  std::string file = weightsFile({kOut, kIn, kHeight, kWidth});
  ASSERT_EQ(message(loadWeights(file, half)), "no error");
  std::vector<float> found;
  for (int64_t i = 0; i < kElements; ++i)
    found.push_back(std::bit_cast<float>(
        uint32_t(half.at<uint16_t>("conv.weight")[i]) << 16));
  EXPECT_EQ(found, numbersOfPyTorch()) << "whole numbers below 256 are exact";
}

TEST_F(CheckpointOrdersTest, CheckpointsAndExportsHaveTheOrderOfTheFile) {
  fill(session, "conv.weight");
  fill(session, "conv.weight.momentum");
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  EXPECT_EQ(bytesIn(path, "conv.weight"), ascending());
  EXPECT_EQ(bytesIn(path, "conv.weight.momentum"), ascending());
  std::string out = folder.path("out.safetensors");
  llvm::cantFail(exportWeights(path, out));
  EXPECT_EQ(bytesIn(out, "conv.weight"), ascending());
}

/// A checkpoint says how it lies, so any graph reads it right.
TEST_F(CheckpointOrdersTest, ResumingUnderAnotherOrderKeepsTheState) {
  fill(session, "conv.weight");
  fill(session, "conv.weight.momentum");
  for (const std::vector<int64_t> &saved : {kOihw, std::vector<int64_t>{}})
    for (const std::vector<int64_t> &now :
         {kOihw, std::vector<int64_t>{}, std::vector<int64_t>{3, 2, 1, 0}}) {
      FakeSession before, after;
      load(before, saved);
      load(after, now);
      fill(before, "conv.weight");
      fill(before, "conv.weight.momentum");
      ASSERT_EQ(message(saveCheckpoint(path, before, someState())), "no error");
      auto checkpoint = llvm::cantFail(Checkpoint::open(path));
      ASSERT_EQ(message(checkpoint.restore(after)), "no error");
      EXPECT_EQ(valuesOf(after, "conv.weight"), numbersOfPyTorch());
      EXPECT_EQ(valuesOf(after, "conv.weight.momentum"), numbersOfPyTorch());
      llvm::cantFail(after.initialize(0));
      ASSERT_EQ(message(loadWeights(path, after)), "no error");
      EXPECT_EQ(valuesOf(after, "conv.weight"), numbersOfPyTorch());
    }
}

/// A build that knows no orders must not take one for another.
TEST_F(CheckpointOrdersTest, OnlyPermutedCheckpointsAreOfTheNewFormat) {
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  auto file = llvm::cantFail(readSafetensors(path));
  EXPECT_EQ(file.metadata.at("mantissa.checkpoint"), "3");
  FakeSession plain;
  load(plain, {});
  ASSERT_EQ(message(saveCheckpoint(path, plain, someState())), "no error");
  file = llvm::cantFail(readSafetensors(path));
  EXPECT_EQ(file.metadata.at("mantissa.checkpoint"), "2");
  EXPECT_EQ(file.metadata.count("mantissa.dims_in_files"), 0u);
}

TEST_F(CheckpointOrdersTest, ErrorsGiveTheShapeInFiles) {
  EXPECT_HAS(message(loadWeights(weightsFile({kOut, 4, 3, 3}), session)),
             "'conv.weight' is 2x4x3x3xf32 in the file, expected 2x3x3x3xf32: "
             "2x3x3x3xf32 in the graph, permuted by dims_in_files [0, 3, 1, 2] "
             "(net.mlir:7:1)");
  EXPECT_HAS(message(loadWeights(weightsFile({kOut, 27}), session)),
             "'conv.weight' is 2x27xf32 in the file, expected 2x3x3x3xf32");
}

TEST_F(CheckpointOrdersTest, AnErrorSaysWhenTheFileHasTheOrderOfTheGraph) {
  FakeSession other;
  Program program;
  program.variables = FakeCompiler::variables(false);
  program.variables.push_back({"conv.weight",
                               VariableKind::Parameter,
                               {ElementType::F32, {8, 3, 3, 1}},
                               {},
                               {},
                               {},
                               kOihw});
  program.variables.push_back({"bn.running_mean",
                               VariableKind::Buffer,
                               {ElementType::F32, {kOut}},
                               {},
                               {}});
  llvm::cantFail(other.load(std::move(program)));
  EXPECT_HAS(message(loadWeights(weightsFile({8, 3, 3, 1}), other)),
             "expected 8x1x3x3xf32: 8x3x3x1xf32 in the graph, permuted by "
             "dims_in_files [0, 3, 1, 2]; the file has the order of the graph "
             "already");
}

TEST_F(CheckpointOrdersTest, ACheckpointOfAnotherShapeIsRefused) {
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  FakeSession other;
  Program program;
  program.variables = FakeCompiler::variables(false);
  program.variables.push_back({"conv.weight",
                               VariableKind::Parameter,
                               {ElementType::F32, {kOut, 3, 3, 4}},
                               {},
                               {},
                               {},
                               kOihw});
  llvm::cantFail(other.load(std::move(program)));
  EXPECT_HAS(
      message(llvm::cantFail(Checkpoint::open(path)).checkVariables(other)),
      "'conv.weight' is 2x3x3x3xf32 (2x3x3x3xf32 in files) in the checkpoint, "
      "2x3x3x4xf32 (2x4x3x3xf32 in files) in the graph");
}

TEST_F(CheckpointOrdersTest, OrdersThatAreNoPermutationsAreDamage) {
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  auto open = [&](const char *orders) {
    auto file = llvm::cantFail(readSafetensors(path));
    std::vector<NamedTensor> tensors;
    for (auto &[name, array] : file.tensors)
      tensors.push_back({name, array.type, array.bytes});
    file.metadata["mantissa.dims_in_files"] = orders;
    std::string rewritten = folder.path("rewritten");
    llvm::cantFail(
        writeSafetensors(rewritten, tensors, file.metadata, Digests::Written));
    std::string text = message(Checkpoint::open(rewritten));
    EXPECT_EQ(message(loadWeights(rewritten, session)), text);
    return text;
  };
  EXPECT_EQ(open("{\"conv.weight\":[0,3,1,2]}"), "no error");
  for (const char *bad :
       {"[", "[]", "{\"conv.weight\":3}", "{\"conv.weight\":[0,1,2]}",
        "{\"conv.weight\":[0,1,2,2]}", "{\"conv.weight\":[0,1,2,4]}",
        "{\"conv.weight\":[0,1,2,-1]}", "{\"conv.weight\":[0,1,2,0.5]}",
        "{\"absent\":[0]}"})
    EXPECT_HAS(open(bad), "metadata 'mantissa.dims_in_files' is malformed");
}

/// PyTorch's batch norm has a count, which no file of ours holds.
TEST_F(CheckpointOrdersTest, CountsOfBatchesAreNotMissed) {
  int64_t count = 12;
  auto bytes = llvm::ArrayRef(reinterpret_cast<const char *>(&count), 8);
  TensorType type{ElementType::I64, {}};
  std::string file = weightsFile({kOut, kIn, kHeight, kWidth},
                                 {{"bn.num_batches_tracked", type, bytes}});
  EXPECT_EQ(message(loadWeights(file, session)), "no error");
  file = weightsFile({kOut, kIn, kHeight, kWidth},
                     {{"other.num_batches_tracked", type, bytes}});
  EXPECT_HAS(message(loadWeights(file, session)),
             "unexpected 'other.num_batches_tracked'");
}

} // namespace
