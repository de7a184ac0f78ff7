//===- spelling-test.cpp - suggestions for misspelt names -----------------===//
#include "support/Spelling.h"
#include "gtest/gtest.h"

using namespace mp;

using Names = std::vector<std::string>;

TEST(Spelling, TheNearestNamesFirstAndEachOnce) {
  Names names = {"fc1.weight", "fc1.bias", "fc2.weight", "fc3.weight",
                 "fc1.weight"};
  EXPECT_EQ(nearestNames("fc1.wieght", names),
            (Names{"fc1.weight", "fc2.weight", "fc3.weight"}));
  EXPECT_EQ(nearestNames("fc1.wieght", names, /*limit=*/1),
            Names{"fc1.weight"});
}

TEST(Spelling, NothingWhereNothingIsNear) {
  EXPECT_TRUE(nearestNames("embedding.table", {"fc1.weight"}).empty());
  EXPECT_TRUE(nearestNames("w", {}).empty());
}

TEST(Spelling, CaseAndOrderAreOneSlip) {
  EXPECT_EQ(nearestNames("TORCH", {"torch", "apex"}), Names{"torch"});
  EXPECT_EQ(nearestNames("hctor", {"torch", "apex"}), Names{"torch"});
}

TEST(Spelling, APartOfANameIsNear) {
  EXPECT_EQ(nearestNames("weight", {"encoder.layer.0.output.weight"}),
            Names{"encoder.layer.0.output.weight"});
}

TEST(Spelling, Suggests) {
  EXPECT_EQ(suggest("geluu", {"gelu", "softmax"}), ", did you mean 'gelu'?");
  EXPECT_EQ(suggest("conv", {"gelu", "silu"}), " (known: 'gelu', 'silu')");
  EXPECT_EQ(suggest("conv", {}), " (none is known)");
}
