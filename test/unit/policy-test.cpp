//===- policy-test.cpp - autocast policies are data -----------------------===//
#include "passes/Policy.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mp;

// One name of each list of PyTorch's, and one that no list has.
TEST(Policy, TorchCategories) {
  Policy policy = cantFail(Policy::load("torch"));
  EXPECT_EQ(policy.system(), "torch");
  EXPECT_EQ(policy.categoryOf("linear"), Category::Allow);
  EXPECT_EQ(policy.categoryOf("layer_norm"), Category::Deny);
  EXPECT_EQ(policy.categoryOf("addcmul"), Category::Promote);
  EXPECT_EQ(policy.categoryOf("binary_cross_entropy"), Category::Banned);
  EXPECT_EQ(policy.categoryOf("relu"), Category::Native);
  EXPECT_EQ(policy.categoryOf("roll"), Category::Native);
  EXPECT_TRUE(policy.lists("relu"));
  EXPECT_FALSE(policy.lists("roll"));
}

TEST(Policy, UnknownNameListsThoseThereAre) {
  Expected<Policy> policy = Policy::load("keras");
  ASSERT_FALSE(policy);
  EXPECT_EQ(toString(policy.takeError()),
            "unknown autocast policy \"keras\", expected torch");
}

// An op of the policy or of ours moves; any other name is an error.
TEST(Policy, Move) {
  Policy policy = cantFail(Policy::load("torch"));
  EXPECT_FALSE(
      errorToBool(policy.move({"exp", "ours"}, Category::Allow, {"ours"})));
  EXPECT_EQ(policy.categoryOf("exp"), Category::Allow);
  EXPECT_EQ(policy.categoryOf("ours"), Category::Allow);
  EXPECT_EQ(toString(policy.move({"sotfmax.int"}, Category::Allow, {})),
            "unknown op \"sotfmax.int\" in a list of ops; did you mean "
            "softmax.int?");
}

TEST(Policy, NearestNames) {
  std::vector<std::string> names = {"fc1.weight", "fc1.bias", "fc2.weight",
                                    "fc3.weight", "fc1.weight"};
  EXPECT_EQ(
      nearestNames("fc1.wieght", names),
      (std::vector<std::string>{"fc1.weight", "fc2.weight", "fc3.weight"}));
  EXPECT_TRUE(nearestNames("embedding.table", names).empty());
  EXPECT_TRUE(nearestNames("w", {}).empty());
}
