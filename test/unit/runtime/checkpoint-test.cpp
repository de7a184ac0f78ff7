//===- checkpoint-test.cpp - checkpoints and initial weights --------------===//
//
// The tests compare restored values, and check that wrong files are refused.
//
//===----------------------------------------------------------------------===//
#include "FakeSession.h"
#include "TestFiles.h"
#include "runtime/data/Convert.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/CheckpointWeights.h"
#include <csignal>
#include <sys/resource.h>

using namespace mp;
using namespace mp::test;

namespace {

RunState someState() {
  RunState state;
  state.seed = 18446744073709551615u;
  state.step = 12;
  state.skippedSteps = 2;
  state.samples = 100;
  state.batch = 8;
  state.epochs = 3;
  state.shuffle = false;
  state.dropLast = true;
  state.precision = "fp16";
  state.scaler = "torch";
  state.module = "fake";
  state.target = "cpu";
  state.cpu = "any";
  state.plan = "1234";
  state.lastScale = 0.1;
  state.epochLossSum = 1.0 / 3;
  state.epochLossCount = 4;
  state.accumulate = 1;
  return state;
}

class CheckpointTest : public testing::Test {
protected:
  CheckpointTest() { load(session, ""); }
  static void load(FakeSession &session, llvm::StringRef text) {
    CompileOptions options;
    options.batch = 4;
    llvm::cantFail(
        session.load(llvm::cantFail(FakeCompiler()(text, options, nullptr))));
    llvm::cantFail(session.initialize(1));
  }
  std::string restoreFault(FakeSession &into) {
    auto checkpoint = Checkpoint::open(path);
    return checkpoint ? message(checkpoint->restore(into))
                      : message(std::move(checkpoint));
  }
  TestFolder folder;
  std::string path = folder.path("checkpoint.safetensors");
  FakeSession session;
};

TEST_F(CheckpointTest, BringsEverythingBack) {
  session.at<float>("w")[0] = 42;
  session.at<float>("w.m")[0] = 43;
  session.at<int64_t>("attempt")[0] = 12;
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  FakeSession other;
  load(other, "");
  auto checkpoint = Checkpoint::open(folder.root); // a run folder is accepted
  ASSERT_TRUE(bool(checkpoint));
  ASSERT_EQ(message(checkpoint->restore(other)), "no error");
  EXPECT_EQ(other.at<float>("w")[0], 42);
  EXPECT_EQ(other.at<float>("w.m")[0], 43);
  EXPECT_EQ(other.at<int64_t>("attempt")[0], 12);
  EXPECT_EQ(other.at<float>("w.copy")[0], 42) << "derive has run";
  auto file = llvm::cantFail(readSafetensors(path));
  EXPECT_EQ(file.tensors.count("w.copy"), 0u) << "derived state is not saved";

  const RunState &state = checkpoint->state(), expected = someState();
  EXPECT_EQ(state.seed, expected.seed);
  EXPECT_EQ(state.step, expected.step);
  EXPECT_EQ(state.skippedSteps, expected.skippedSteps);
  EXPECT_EQ(state.samples, expected.samples);
  EXPECT_EQ(state.batch, expected.batch);
  EXPECT_EQ(state.epochs, expected.epochs);
  EXPECT_EQ(state.shuffle, expected.shuffle);
  EXPECT_EQ(state.dropLast, expected.dropLast);
  EXPECT_EQ(state.precision, expected.precision);
  EXPECT_EQ(state.scaler, expected.scaler);
  EXPECT_EQ(state.lastScale, expected.lastScale);
  EXPECT_EQ(state.epochLossSum, expected.epochLossSum);
  EXPECT_EQ(state.epochLossCount, expected.epochLossCount);
}

TEST_F(CheckpointTest, EqualStateGivesEqualFiles) {
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  std::string first = folder.read("checkpoint.safetensors");
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  EXPECT_EQ(folder.read("checkpoint.safetensors"), first);
}

TEST_F(CheckpointTest, EveryFlippedBitIsNoticed) {
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  std::string good = folder.read("checkpoint.safetensors");
  EXPECT_EQ(message(Checkpoint::open(path)), "no error");
  std::string file = folder.write("flipped", good);
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  auto put = [&](size_t place, char byte) {
    bytes.seekp(place).put(byte).flush();
  };
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    put(bit / 8, good[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(message(Checkpoint::open(file)), "no error") << "bit " << bit;
    if (bit % 97 == 0)
      EXPECT_NE(message(loadWeights(file, session)), "no error") << bit;
    put(bit / 8, good[bit / 8]);
  }
  EXPECT_EQ(message(Checkpoint::open(file)), "no error");
  // The message names the tensor: the last one ends the file.
  good.back() ^= 1;
  EXPECT_HAS(message(Checkpoint::open(folder.write("flipped", good))),
             "is not the one that was written");
}

TEST_F(CheckpointTest, AFileThatShrinksWhileItIsReadIsNamed) {
  RunState state = someState();
  state.module.assign(2 * MappedFile::kCopied, 'm'); // so that it is mapped
  ASSERT_EQ(message(saveCheckpoint(path, session, state)), "no error");
  auto checkpoint = llvm::cantFail(Checkpoint::open(path));
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  EXPECT_HAS(message(checkpoint.restore(session)),
             path + ": has changed since it was opened: it has 4096 bytes now");
}

TEST_F(CheckpointTest, EarlierFilesHaveNoDigests) {
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  auto file = llvm::cantFail(readSafetensors(path));
  std::vector<NamedTensor> tensors;
  for (auto &[name, array] : file.tensors)
    tensors.push_back({name, array.type, array.bytes});
  auto open = [&](const char *format) {
    file.metadata["mantissa.checkpoint"] = format;
    llvm::cantFail(writeSafetensors(folder.path("x"), tensors, file.metadata));
    return message(Checkpoint::open(folder.path("x")));
  };
  EXPECT_EQ(open("1"), "no error");
  EXPECT_HAS(open("2"), "damaged checkpoint: it has no digests");
  EXPECT_HAS(open("4"), "checkpoint format 4, expected at most 3");
  EXPECT_HAS(message(loadWeights(folder.path("x"), session)),
             "checkpoint format 4, expected at most 3");
}

TEST_F(CheckpointTest, AFullDiskLeavesTheOldOne) {
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  std::string before = folder.read("checkpoint.safetensors");
  rlimit old, tiny;
  getrlimit(RLIMIT_FSIZE, &old);
  tiny = {256, old.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tiny);
  session.at<float>("w")[0] = 7;
  std::string text = message(saveCheckpoint(path, session, someState()));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(text, "cannot write " + path + ": File too large");
  EXPECT_EQ(folder.read("checkpoint.safetensors"), before);
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_EQ(message(saveCheckpoint("/dev/full", session, someState())),
            "cannot write /dev/full: No space left on device");
}

TEST_F(CheckpointTest, OfAnotherGraphNamesTheVariables) {
  FakeSession wide;
  load(wide, "wide");
  ASSERT_EQ(message(saveCheckpoint(path, wide, someState())), "no error");
  session.at<float>("w")[0] = 5;
  std::string text = restoreFault(session);
  EXPECT_HAS(text, "checkpoint.safetensors: checkpoint of another graph");
  EXPECT_HAS(text, "'w' is 2xf32 in the checkpoint, f32 in the graph "
                   "(net.mlir:2:3)");
  EXPECT_HAS(text, "'w.m' is 2xf32");
  EXPECT_EQ(session.at<float>("w")[0], 5) << "nothing was touched";

  std::vector<float> data(1);
  llvm::ArrayRef<char> bytes(reinterpret_cast<char *>(data.data()), 4);
  auto file = llvm::cantFail(readSafetensors(path));
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 20; ++i)
    tensors.push_back(
        {"layer" + std::to_string(i), {ElementType::F32, {}}, bytes});
  ASSERT_EQ(
      message(writeSafetensors(path, tensors, file.metadata, Digests::Written)),
      "no error");
  text = restoreFault(session);
  EXPECT_HAS(text, "'w' (parameter f32) is not in the checkpoint");
  EXPECT_HAS(text, "more");
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 8);
}

TEST_F(CheckpointTest, DamagedMetadataIsNamed) {
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  auto rewrite = [&](const std::string &key, const char *value) {
    auto file = llvm::cantFail(readSafetensors(path));
    std::vector<NamedTensor> tensors;
    for (auto &[name, array] : file.tensors)
      tensors.push_back({name, array.type, array.bytes});
    if (value)
      file.metadata[key] = value;
    else
      file.metadata.erase(key);
    llvm::cantFail(writeSafetensors(folder.path("x"), tensors, file.metadata,
                                    Digests::Written));
    return message(Checkpoint::open(folder.path("x")));
  };
  EXPECT_HAS(rewrite("step", nullptr), "'step' is missing or malformed");
  EXPECT_HAS(rewrite("batch", "many"), "'batch' is missing or malformed");
  EXPECT_HAS(rewrite("mantissa.checkpoint", "99"),
             "format 99, expected at most 3");
  EXPECT_HAS(rewrite("mantissa.checkpoint", nullptr), "no training state");
  // A checkpoint may be older than tuning plans, and than any setting.
  EXPECT_EQ(rewrite("plan", nullptr), "no error");
  forEachSetting(
      [&]<typename T>(const SettingInfo &setting, T RecipeSettings::*) {
        std::string key =
            setting.name.str() + (std::is_same_v<T, double> ? "_bits" : "");
        std::replace(key.begin(), key.end(), '-', '_');
        EXPECT_EQ(rewrite(key, nullptr), "no error") << key;
      });
}

/// The export has no slot, no scaler, no history; the metadata are checked.
TEST_F(CheckpointTest, ExportsWeightsAlone) {
  FakeSession eight;
  load(eight, "histories");
  eight.at<float>("w")[0] = 42;
  ASSERT_EQ(message(saveCheckpoint(path, eight, someState())), "no error");
  std::string out = folder.path("weights.safetensors");
  Exported exported = llvm::cantFail(exportWeights(folder.root, out));
  EXPECT_EQ(exported.tensors, 1u);
  EXPECT_EQ(exported.bytes, 4u);
  auto file = llvm::cantFail(readSafetensors(out));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"w"}));
  EXPECT_EQ(file.metadata.at("format"), "pt");
  EXPECT_EQ(loadElement(ElementType::F32, file.tensors.at("w").bytes.data()),
            42);
  EXPECT_EQ(message(loadWeights(out, session)), "no error");
  EXPECT_HAS(message(exportWeights(path, out, Weights::Averaged)),
             "holds no averages of weights");
  auto rewrite = [&](const char *value) {
    auto saved = llvm::cantFail(readSafetensors(path));
    std::vector<NamedTensor> tensors;
    for (auto &[name, array] : saved.tensors)
      tensors.push_back({name, array.type, array.bytes});
    saved.metadata.erase("weights");
    if (value)
      saved.metadata["weights"] = value;
    llvm::cantFail(writeSafetensors(folder.path("x"), tensors, saved.metadata,
                                    Digests::Written));
    return message(exportWeights(folder.path("x"), out));
  };
  for (const char *bad : {"[", "{}", "[1]", "[\"absent\"]"})
    EXPECT_HAS(rewrite(bad), "metadata 'weights' is malformed");
  EXPECT_HAS(rewrite(nullptr), "an earlier version wrote it");
}

/// Weights as PyTorch saves them, of any element type.
std::string weightsFile(const TestFolder &folder, const std::string &name,
                        ElementType element, double value) {
  char bytes[8];
  storeElement(element, value, bytes);
  std::string path = folder.path("weights.safetensors");
  llvm::cantFail(writeSafetensors(
      path, {{name, {element, {}}, llvm::ArrayRef(bytes, byteWidth(element))}},
      {}));
  return path;
}

TEST_F(CheckpointTest, WeightsAreConverted) {
  for (ElementType element : {ElementType::F16, ElementType::BF16,
                              ElementType::F32, ElementType::F64}) {
    session.at<float>("w.m")[0] = 3;
    session.at<float>("w")[0] = 0;
    std::string file = weightsFile(folder, "w", element, 1.5);
    ASSERT_EQ(message(loadWeights(file, session)), "no error");
    EXPECT_EQ(session.at<float>("w")[0], 1.5);
    EXPECT_EQ(session.at<float>("w.copy")[0], 1.5) << "derive has run";
    EXPECT_EQ(session.at<float>("w.m")[0], 3) << "the optimizer's state stays";
  }
}

TEST_F(CheckpointTest, WeightsMayComeFromACheckpoint) {
  session.at<float>("w")[0] = 9;
  session.at<float>("w.m")[0] = 9;
  ASSERT_EQ(message(saveCheckpoint(path, session, someState())), "no error");
  llvm::cantFail(session.initialize(0));
  ASSERT_EQ(message(loadWeights(folder.root, session)), "no error");
  EXPECT_EQ(session.at<float>("w")[0], 9);
  EXPECT_EQ(session.at<float>("w.m")[0], 0);
}

TEST_F(CheckpointTest, TrainingBeginsWithoutHistories) {
  FakeSession eight;
  load(eight, "histories");
  std::string file = weightsFile(folder, "w", ElementType::F32, 1.5);
  EXPECT_HAS(message(loadWeights(file, eight)),
             "missing 'w.amax' (f32), which training in 8 bits writes");
  ASSERT_EQ(message(loadWeights(file, eight, Weights::Initial)), "no error");
  EXPECT_EQ(eight.at<float>("w")[0], 1.5);
}

TEST_F(CheckpointTest, AveragesTakeTheWeightsPlace) {
  float weight = 1, average = 2;
  int64_t applied = 0;
  auto write = [&](bool averaged) {
    auto bytes = [](auto &value) {
      return llvm::ArrayRef(reinterpret_cast<const char *>(&value),
                            sizeof(value));
    };
    std::vector<NamedTensor> tensors = {
        {"w", {ElementType::F32, {}}, bytes(weight)},
        {"step.applied", {ElementType::I64, {}}, bytes(applied)}};
    if (averaged)
      tensors.push_back({"w.ema", {ElementType::F32, {}}, bytes(average)});
    llvm::cantFail(
        writeSafetensors(path, tensors, {{"mantissa.checkpoint", "1"}}));
    return message(loadWeights(path, session, Weights::Averaged));
  };
  EXPECT_HAS(write(false), "holds no averages of weights, such as 'w.ema'");
  EXPECT_HAS(write(true), "no step was applied yet");
  applied = 1;
  EXPECT_EQ(write(true), "no error");
  EXPECT_EQ(session.at<float>("w")[0], 2);
  EXPECT_EQ(session.at<float>("w.copy")[0], 2) << "derive has run";
  ASSERT_EQ(message(loadWeights(path, session)), "no error");
  EXPECT_EQ(session.at<float>("w")[0], 1);
}

/// Names do not count if a file has the roles of its tensors.
TEST_F(CheckpointTest, RolesTellAverages) {
  float weight = 1, average = 2;
  auto bytes = [](auto &value) {
    return llvm::ArrayRef(reinterpret_cast<const char *>(&value),
                          sizeof(value));
  };
  auto load = [&](const char *roles) {
    llvm::cantFail(writeSafetensors(
        path,
        {{"w", {ElementType::F32, {}}, bytes(weight)},
         {"smooth", {ElementType::F32, {}}, bytes(average)},
         {"other.ema", {ElementType::F32, {}}, bytes(weight)}},
        {{"mantissa.checkpoint", "1"}, {"mantissa.roles", roles}}));
    return message(loadWeights(path, session, Weights::Averaged));
  };
  EXPECT_HAS(load("{}"), "holds no averages of weights");
  ASSERT_EQ(load(R"({"smooth": {"role": "average", "parameter": "w"}})"),
            "no error");
  EXPECT_EQ(session.at<float>("w")[0], 2);
  for (const char *damaged :
       {"[", "[]", R"({"w": 1})", R"({"w": {"role": "part"}})",
        R"({"absent": {"role": "count"}})"})
    EXPECT_HAS(load(damaged), "damaged checkpoint: metadata 'mantissa.roles' "
                              "is malformed");
}

TEST_F(CheckpointTest, RolesAreSaved) {
  FakeSession eight;
  load(eight, "histories");
  ASSERT_EQ(message(saveCheckpoint(path, eight, someState())), "no error");
  Roles roles = llvm::cantFail(rolesIn(llvm::cantFail(readSafetensors(path))));
  EXPECT_EQ(roleOf("w.amax", roles).kind, VariableRole::Kind::History);
  EXPECT_EQ(roleOf("w", roles), VariableRole());
}

TEST_F(CheckpointTest, WeightsThatDoNotFitAreNamed) {
  std::string file = weightsFile(folder, "W1", ElementType::F32, 1);
  std::string text = message(loadWeights(file, session));
  EXPECT_HAS(text, "weights.safetensors: does not hold the weights");
  EXPECT_HAS(text, "missing 'w' (f32); is it 'W1'?");
  EXPECT_HAS(text, "unexpected 'W1'");
  file = weightsFile(folder, "w", ElementType::I32, 1);
  EXPECT_HAS(message(loadWeights(file, session)),
             "'w' is i32 in the file, f32 in the graph (net.mlir:2:3)");
}

} // namespace
