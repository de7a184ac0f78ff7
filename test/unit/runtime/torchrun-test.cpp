//===- torchrun-test.cpp - the variables of torchrun ----------------------===//
#include "ChildProcess.h"
#include "TestFiles.h"
#include "runtime/ranks/OpenRanks.h"
#include "runtime/ranks/Torchrun.h"
#include "gtest/gtest.h"

using namespace mp;
using namespace mp::test;

namespace {

constexpr const char *kNames[] = {"RANK",        "WORLD_SIZE",
                                  "LOCAL_RANK",  "MASTER_ADDR",
                                  "MASTER_PORT", "TORCHELASTIC_RUN_ID"};

/// Has the variables that a test sets, and no others.
class Torchrun : public testing::Test {
protected:
  void SetUp() override {
    for (const char *name : kNames)
      unsetenv(name);
  }
  void TearDown() override { SetUp(); }

  static void set(const Settings &settings) {
    for (auto &[name, value] : settings)
      setenv(name.c_str(), value.c_str(), 1);
  }
  static Settings second() {
    return {{"RANK", "1"},
            {"WORLD_SIZE", "2"},
            {"LOCAL_RANK", "1"},
            {"MASTER_ADDR", "host-a"},
            {"MASTER_PORT", "29500"}};
  }
  /// The error of rank 1 of 2 with these variables besides; "" unsets one.
  static std::string mistake(const Settings &changes) {
    set(second());
    for (auto &[name, value] : changes)
      if (value.empty())
        unsetenv(name.c_str());
      else
        setenv(name.c_str(), value.c_str(), 1);
    auto read = readTorchrun();
    return read ? "none" : llvm::toString(read.takeError());
  }
  static std::string address(const char *host, const char *port) {
    set(second());
    set({{"MASTER_ADDR", host}, {"MASTER_PORT", port}});
    auto read = readTorchrun();
    return read ? (*read)->address : llvm::toString(read.takeError());
  }
};

TEST_F(Torchrun, NothingIsNoRank) {
  auto read = readTorchrun();
  ASSERT_TRUE(bool(read));
  EXPECT_FALSE(read->has_value());
}

TEST_F(Torchrun, ARank) {
  set(second());
  auto read = readTorchrun();
  ASSERT_TRUE(bool(read));
  EXPECT_EQ((*read)->rank, 1);
  EXPECT_EQ((*read)->size, 2);
  EXPECT_EQ((*read)->address, "host-a:29501");
}

TEST_F(Torchrun, TheOnlyRankMeetsNobody) {
  set({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  auto ranks = openRanks();
  ASSERT_TRUE(bool(ranks)) << llvm::toString(ranks.takeError());
  EXPECT_EQ(*ranks, nullptr);
}

TEST_F(Torchrun, AddressesOfAllKinds) {
  EXPECT_EQ(address("10.0.0.1", "1"), "10.0.0.1:2");
  EXPECT_EQ(address("fe80::1", "29500"), "[fe80::1]:29501");
  EXPECT_EQ(address("[::1]", "29500"), "[::1]:29501");
  EXPECT_EQ(address("a", "65535"), "a:65534") << "there is no next port";
}

TEST_F(Torchrun, Mistakes) {
  EXPECT_EQ(mistake({{"WORLD_SIZE", ""}}),
            "WORLD_SIZE is not set, but torchrun's other variables are");
  EXPECT_EQ(mistake({{"RANK", ""}}),
            "RANK is not set, but torchrun's other variables are");
  EXPECT_EQ(mistake({{"MASTER_ADDR", ""}}),
            "MASTER_ADDR is not set, but torchrun's other variables are");
  EXPECT_EQ(mistake({{"MASTER_PORT", ""}}),
            "MASTER_PORT is not set, but torchrun's other variables are");
  EXPECT_EQ(mistake({{"RANK", "2"}}), "RANK is 2, but WORLD_SIZE is 2");
  EXPECT_EQ(mistake({{"RANK", "one"}}),
            "RANK is 'one', expected a number from 0 to 1048576");
  EXPECT_EQ(mistake({{"WORLD_SIZE", "-2"}}),
            "WORLD_SIZE is '-2', expected a number from 1 to 1048576");
  EXPECT_EQ(mistake({{"LOCAL_RANK", "2"}}),
            "LOCAL_RANK is '2', expected a number from 0 to 1");
  EXPECT_EQ(mistake({{"MASTER_PORT", "65536"}}),
            "MASTER_PORT is '65536', expected a number from 1 to 65535");
  EXPECT_EQ(mistake({{"LOCAL_RANK", ""}}), "none");
}

/// What openRanks says, in a process of its own with the emulated libraries of
/// a folder.
std::string refusal(const std::string &cuda, Settings settings) {
  settings.insert(settings.end(),
                  {{"MP_CUDA_PATH", cuda}, {"MP_EMULATOR_DEVICES", "2"}});
  Outcome outcome = inChild(settings, [] { return openRanks().takeError(); });
  return outcome.signal ? "signal" : outcome.message;
}

TEST_F(Torchrun, ADeviceThatThereIsNot) {
  Settings settings = second();
  settings[1].second = "4";
  settings[2].second = "3";
  EXPECT_EQ(refusal(MP_EMULATOR_DIR, settings),
            "rank 1 of 4, LOCAL_RANK 3: device cuda is not available: no CUDA "
            "device 3, there are 2; torchrun is for CUDA devices, start ranks "
            "on CPUs by mpirun");
}

TEST_F(Torchrun, NoNccl) {
  TestFolder folder;
  for (const char *file : {"libcuda.so.1", "libnvrtc.so.13"})
    EXPECT_EQ(symlink((std::string(MP_EMULATOR_DIR "/") + file).c_str(),
                      folder.path(file).c_str()),
              0);
  folder.write("libnccl.so.2", "no library");
  std::string text = refusal(folder.root, second());
  EXPECT_NE(text.find("rank 1 of 2, LOCAL_RANK 1, cannot join the others at "
                      "host-a:29501: cannot open NCCL: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("pip install nvidia-nccl-cu"), std::string::npos) << text;
}

/// MPI's variables come first, but not in a process of torchrun itself.
TEST_F(Torchrun, BothVariables) {
  Settings settings = second();
  settings.insert(settings.end(), {{"OMPI_COMM_WORLD_SIZE", "2"},
                                   {"MP_MPI_PATH", "/no-mpi"},
                                   {"NCCL_COMM_ID", "elsewhere"}});
  std::string text = refusal(MP_EMULATOR_DIR, settings);
  EXPECT_EQ(text.rfind("cannot open libmantissa-mpi.so: ", 0), 0u) << text;
  settings.push_back({"TORCHELASTIC_RUN_ID", "none"});
  text = refusal(MP_EMULATOR_DIR, settings);
  EXPECT_EQ(text.rfind("rank 1 of 2, LOCAL_RANK 1, cannot join", 0), 0u)
      << text;
}

TEST_F(Torchrun, AnAddressOfTheUserHolds) {
  Settings settings = second();
  settings.push_back({"NCCL_COMM_ID", "elsewhere"});
  EXPECT_NE(refusal(MP_EMULATOR_DIR, settings)
                .find("cannot join the others at elsewhere: NCCL: "
                      "ncclGetUniqueId failed: invalid argument (4): "),
            std::string::npos);
}

} // namespace
