//===- policy-test.cpp - autocast policies are data -----------------------===//
#include "passes/autocast/Policy.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mp;

namespace {

/// Judges an op by its name in the policy's system.
StringRef decide(const Policy &policy, StringRef name) {
  return nameOf(policy.decide("mp.op", name, NumericClass::none).category);
}

/// Returns the error of a policy's text.
std::string errorOf(StringRef text) {
  Expected<Policy> policy = Policy::parse(text, "mine");
  return policy ? "" : toString(policy.takeError());
}

// Judges one name of each list of PyTorch's, and one that no list has.
TEST(Policy, TorchCategories) {
  Policy policy = cantFail(Policy::load("torch"));
  EXPECT_EQ(policy.system(), "torch");
  EXPECT_EQ(decide(policy, "linear"), "allow");
  EXPECT_EQ(decide(policy, "layer_norm"), "deny");
  EXPECT_EQ(decide(policy, "softmax"), "result");
  EXPECT_EQ(decide(policy, "addcmul"), "promote");
  EXPECT_EQ(decide(policy, "binary_cross_entropy"), "banned");
  EXPECT_EQ(decide(policy, "roll"), "native");
}

// An op that another system makes of several has the category of the strictest.
TEST(Policy, JudgesWhatIsComposed) {
  Policy policy = cantFail(Policy::load("tf-fp16"));
  EXPECT_EQ(decide(policy, "Erf+Mul"), "infer");
  EXPECT_EQ(decide(policy, "Mul+Mean+Relu"), "deny");
  EXPECT_EQ(decide(policy, "Relu+MatMul"), "allow");
  EXPECT_EQ(decide(policy, "NotThere"), "barrier");
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

// An op of the policy or of the dialect moves; any other name is an error.
TEST(Policy, Move) {
  Policy policy = cantFail(Policy::load("torch"));
  EXPECT_FALSE(errorToBool(policy.move(
      {"exp", "ours", "mp.ours"}, Category::Allow, {{"mp.ours"}, {"ours"}})));
  EXPECT_EQ(decide(policy, "exp"), "allow");
  EXPECT_EQ(decide(policy, "ours"), "allow");
  EXPECT_EQ(toString(policy.move({"sotfmax"}, Category::Allow, {})),
            "unknown op \"sotfmax\" in a list of ops; did you mean softmax?");
}

// An overload of PyTorch's has the rule of its op. An op of a plugin's dialect
// looks like one, and is none.
TEST(Policy, OverloadsAndDialects) {
  Policy policy = cantFail(Policy::load("torch"));
  KnownNames known{{"exp.ours"}, {"exp"}};
  EXPECT_FALSE(errorToBool(policy.move({"exp.ours"}, Category::Allow, known)));
  EXPECT_EQ(decide(policy, "exp"), "deny");
  EXPECT_FALSE(errorToBool(policy.move({"exp.out"}, Category::Allow, known)));
  EXPECT_EQ(decide(policy, "exp"), "allow");
  EXPECT_EQ(toString(policy.move({"exq.ours"}, Category::Allow, known)),
            "unknown op \"exq.ours\" in a list of ops; did you mean exp.ours?");
}

TEST(Policy, ExtendsAnother) {
  Policy policy = cantFail(Policy::parse(
      R"({"extends": "torch", "allow": ["exp"], "unlisted": "follow"})",
      "mine"));
  EXPECT_EQ(decide(policy, "exp"), "allow");
  EXPECT_EQ(decide(policy, "log"), "deny");
  EXPECT_EQ(decide(policy, "roll"), "follow");
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
            "policy mine: \"allow\" holds what is not a name");
  EXPECT_NE(errorOf("{"), "");
  EXPECT_EQ(errorOf(std::string(100000, '[')),
            "policy mine: has more than 256 lists");
  EXPECT_EQ(errorOf(R"({"extends": 5, "system": "torch", "allow": ["exp"]})"),
            "policy mine: \"extends\" is not a string");
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
