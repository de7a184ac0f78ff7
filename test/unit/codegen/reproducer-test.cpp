//===- reproducer-test.cpp - files left by a crash in a pass --------------===//
#include "ChildProcess.h"
#include "TestFiles.h"
#include "codegen/Compile.h"
#include "codegen/Reproducer.h"
#include "support/ShellWord.h"
#include "gtest/gtest.h"

using namespace mp;
using namespace mp::test;

/// mp-autodiff warns of @idle, and these tests crash it there.
static constexpr char kModule[] = R"(
mp.variable @weight : tensor<4xf32> = #mp.init<zeros>
mp.variable @idle : tensor<4xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x4xf32>) -> tensor<f32> {
  %weight = mp.read @weight : tensor<4xf32>
  %idle = mp.read @idle : tensor<4xf32>
  %product = mp.mul %x, %weight : tensor<?x4xf32>, tensor<4xf32>
  %loss = mp.sum %product dims[0, 1] : tensor<?x4xf32>
  return %loss : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd} }
)";

/// Crashes a process of its own, as the pass's work is lost.
static Outcome crash(int signal, const std::string &reproducer) {
  return inChild({}, [&] {
    CompileOptions options;
    options.batch = 2;
    options.reproducer = reproducer;
    options.onWarning = [&](llvm::StringRef) { raise(signal); };
    return compile(kModule, options).takeError();
  });
}

class Reproducer : public testing::TestWithParam<int> {};

static void expectHas(llvm::StringRef text, const std::string &part) {
  EXPECT_TRUE(text.contains(part)) << part << " is not in\n" << text.str();
}

TEST_P(Reproducer, NamesTheFileAndTheCommandAfterACrash) {
  TestFolder folder;
  std::string path = folder.path("a crash.mlir");
  Outcome outcome = crash(GetParam(), path);
  EXPECT_EQ(outcome.exit, 1) << outcome.said;
  std::string command = "mp-opt --run-reproducer '" + path + "'";
  expectHas(outcome.message, "`Autodiff`");
  expectHas(outcome.message, "`" + path + "`");
  expectHas(outcome.message, "`" + command + "`");
  // The file has the module as it was before the pass, which is run again
  // alone.
  std::string text = folder.read("a crash.mlir");
  EXPECT_EQ(text.find("// " + command + "\n"), 0u) << text;
  expectHas(text, "mp.train @step of @loss");
  expectHas(text, "\"builtin.module(mp-autodiff{function=})\"");
}

INSTANTIATE_TEST_SUITE_P(Signals, Reproducer, testing::Values(SIGSEGV, SIGABRT),
                         [](auto &info) {
                           return info.param == SIGSEGV ? "Segv" : "Abort";
                         });

TEST(ShellWord, IsReadBackByAShell) {
  for (llvm::StringRef word : {"plain-1.2_3,/=+:@%", "", "two words", "it's",
                               "$HOME `id` \\ \" ! * ~ # ; &", "a\nb"}) {
    std::string command = "printf %s " + shellWord(word);
    FILE *pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char buffer[256];
    size_t count = fread(buffer, 1, sizeof(buffer), pipe);
    EXPECT_EQ(pclose(pipe), 0);
    EXPECT_EQ(llvm::StringRef(buffer, count), word);
  }
  EXPECT_EQ(shellWord("plain-1.2"), "plain-1.2");
}
