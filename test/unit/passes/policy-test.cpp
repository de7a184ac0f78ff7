//===- policy-test.cpp - autocast policies are data -----------------------===//
#include "passes/autocast/Policy.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mp;

namespace {

/// What a policy says of an op by its name in the policy's system.
StringRef judge(const Policy &policy, StringRef name) {
  return nameOf(policy
                    .judge("mp.op",
                           [&](StringRef system) {
                             return system == policy.system() ? name
                                                              : StringRef();
                           })
                    .category);
}

/// What is wrong with the text of a policy.
std::string errorOf(StringRef text) {
  Expected<Policy> policy = Policy::parse(text, "mine");
  return policy ? "" : toString(policy.takeError());
}

// One name of each list of PyTorch's, and one that no list has.
TEST(Policy, TorchCategories) {
  Policy policy = cantFail(Policy::load("torch"));
  EXPECT_EQ(policy.system(), "torch");
  EXPECT_EQ(judge(policy, "linear"), "allow");
  EXPECT_EQ(judge(policy, "layer_norm"), "deny");
  EXPECT_EQ(judge(policy, "softmax"), "result");
  EXPECT_EQ(judge(policy, "addcmul"), "promote");
  EXPECT_EQ(judge(policy, "binary_cross_entropy"), "banned");
  EXPECT_EQ(judge(policy, "roll"), "native");
}

// An op that is several elsewhere is what the strictest of them is.
TEST(Policy, JudgesWhatIsComposed) {
  Policy policy = cantFail(Policy::load("tf-fp16"));
  EXPECT_EQ(judge(policy, "Erf+Mul"), "infer");
  EXPECT_EQ(judge(policy, "Mul+Mean+Relu"), "deny");
  EXPECT_EQ(judge(policy, "Relu+MatMul"), "allow");
  EXPECT_EQ(judge(policy, "NotThere"), "barrier");
}

TEST(Policy, UnknownNameListsThoseThereAre) {
  Expected<Policy> policy = Policy::load("kerass");
  ASSERT_FALSE(policy);
  EXPECT_EQ(toString(policy.takeError()),
            "unknown autocast policy \"kerass\"; did you mean keras? There are "
            "apex-o0, apex-o1, apex-o2, apex-o3, fp8, jmp, keras, ort, relax, "
            "relay, tf-bf16, tf-fp16, torch-2.12, torch-cpu, torch and files "
            "that end in .json");
}

// An op of the policy or of ours moves; any other name is an error.
TEST(Policy, Move) {
  Policy policy = cantFail(Policy::load("torch"));
  EXPECT_FALSE(
      errorToBool(policy.move({"exp", "ours"}, Category::Allow, {"ours"})));
  EXPECT_EQ(judge(policy, "exp"), "allow");
  EXPECT_EQ(judge(policy, "ours"), "allow");
  EXPECT_EQ(toString(policy.move({"sotfmax"}, Category::Allow, {})),
            "unknown op \"sotfmax\" in a list of ops; did you mean softmax?");
}

TEST(Policy, ExtendsAnother) {
  Policy policy = cantFail(Policy::parse(
      R"({"extends": "torch", "allow": ["exp"], "unlisted": "follow"})",
      "mine"));
  EXPECT_EQ(judge(policy, "exp"), "allow");
  EXPECT_EQ(judge(policy, "log"), "deny");
  EXPECT_EQ(judge(policy, "roll"), "follow");
}

TEST(Policy, SaysWhatIsWrong) {
  EXPECT_EQ(errorOf(R"({"extends": "torch"})"), "policy mine: lists no op");
  EXPECT_EQ(
      errorOf(R"({"extends": "torch", "allow": ["exp"], "deny": ["exp"]})"),
      "policy mine: \"exp\" is listed under allow and under deny");
  EXPECT_EQ(errorOf(R"({"allow": ["exp"]})"),
            "policy mine: expected \"extends\", a policy, or \"system\", whose "
            "names the lists use: torch, tensorflow, relay, relax or class");
  EXPECT_NE(errorOf(R"({"extends": "torch", "alow": [], "deny": ["exp"]})")
                .find("\"alow\" is not understood"),
            std::string::npos);
  EXPECT_EQ(errorOf(R"({"extends": "torch", "allow": [1]})"),
            "policy mine: \"allow\" holds what is no name");
  EXPECT_NE(errorOf("{"), "");
  EXPECT_EQ(errorOf(std::string(100000, '[')),
            "policy mine: has more than 256 lists");
  EXPECT_EQ(errorOf(R"({"extends": 5, "system": "torch", "allow": ["exp"]})"),
            "policy mine: \"extends\" is no text");
  EXPECT_EQ(
      errorOf(R"({"extends": "torch", "dtypes": ["f17"], "allow": ["exp"]})"),
      "policy mine: \"dtypes\" is a list of f16, bf16 and tf32");
  EXPECT_EQ(
      errorOf(R"({"extends": "torch", "system": "relax", "allow": ["exp"]})"),
      "policy mine: extends a policy whose names are of system \"torch\", and "
      "says \"relax\"; leave \"system\" out");
  EXPECT_NE(errorOf(R"({"extends": "torch", "f8": {"allow": ["exp"]}})")
                .find("\"f8\" is not understood"),
            std::string::npos);
}

} // namespace
