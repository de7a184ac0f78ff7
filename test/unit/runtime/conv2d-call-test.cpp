//===- conv2d-call-test.cpp - the attributes of "cudnn.conv2d" ------------===//
#include "TestFiles.h"
#include "runtime/cuda/Conv2dCall.h"

using namespace mp;
using namespace mp::test;

namespace {

using Attribute = Call::Attribute;
using List = std::vector<int64_t>;

/// A convolution with stride 2 and a bias.
Call good() {
  Call call;
  call.routine = "cudnn.conv2d";
  call.attributes = {{"kind", "forward"},
                     {"input", List{2, 9, 8, 6}},
                     {"weight", List{4, 3, 3, 3}},
                     {"output", List{2, 5, 4, 4}},
                     {"strides", List{2, 2}},
                     {"low", List{1, 1}},
                     {"high", List{1, 1}},
                     {"dilations", List{1, 1}},
                     {"type", "bf16"},
                     {"bias", int64_t(1)},
                     {"compute", "f32"},
                     {"workspace", int64_t(256)}};
  call.args.resize(5);
  return call;
}

/// The error for an attribute of another value.
std::string with(const std::string &name, const Attribute &value) {
  Call call = good();
  for (auto &[known, old] : call.attributes)
    if (known == name)
      old = value;
  return message(readConv2d(call));
}

TEST(Conv2dCall, isRead) {
  auto conv = readConv2d(good());
  ASSERT_TRUE(bool(conv)) << toString(conv.takeError());
  EXPECT_EQ(conv->kind, Conv2dCall::Kind::Forward);
  EXPECT_EQ(conv->groups(), 2);
  EXPECT_EQ(conv->type, ElementType::BF16);
  EXPECT_TRUE(conv->bias);
  EXPECT_FALSE(conv->tf32);
  EXPECT_EQ(conv->workspace, 256);
  EXPECT_EQ(conv->str(), "forward bf16 2x9x8x6 by 4x3x3x3");
}

TEST(Conv2dCall, saysWhichAttributeIsWrong) {
  EXPECT_EQ(with("kind", "backward"),
            "attribute 'kind' must be forward or backward_input or "
            "backward_weight, found 'backward'");
  EXPECT_EQ(with("type", "f64"),
            "attribute 'type' must be f32 or f16 or bf16, found 'f64'");
  EXPECT_EQ(with("compute", "f16"),
            "attribute 'compute' must be f32 or tf32, found 'f16'");
  EXPECT_EQ(with("input", List{2, 9, 8}),
            "attribute 'input' must be 4 numbers of at least 1, found [2, 9, "
            "8]");
  EXPECT_EQ(
      with("strides", List{2, 0}),
      "attribute 'strides' must be 2 numbers of at least 1, found [2, 0]");
  EXPECT_EQ(with("low", "1"), "attribute 'low' is of a wrong type");
  Call call = good();
  call.attributes.pop_back();
  EXPECT_EQ(message(readConv2d(call)), "attribute 'workspace' is missing");
}

TEST(Conv2dCall, saysThatSizesDisagree) {
  EXPECT_EQ(with("output", List{2, 5, 5, 4}),
            "attribute 'output' must be 2x5x4x4, found 2x5x5x4");
  EXPECT_EQ(with("weight", List{4, 3, 3, 4}),
            "attributes 'input' and 'weight' have channels that groups do not "
            "divide: forward bf16 2x9x8x6 by 4x3x3x4");
  EXPECT_EQ(with("weight", List{5, 3, 3, 3}),
            "attributes 'input' and 'weight' have channels that groups do not "
            "divide: forward bf16 2x9x8x6 by 5x3x3x3");
}

TEST(Conv2dCall, checksArguments) {
  Call call = good();
  call.args.resize(4);
  EXPECT_EQ(message(readConv2d(call)), "expected 5 arguments, found 4");
  EXPECT_EQ(with("kind", "backward_input"), "a gradient has no bias");
}

} // namespace
