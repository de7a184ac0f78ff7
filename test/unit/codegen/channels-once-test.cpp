//===- channels-once-test.cpp - numbers of channels of large images -------===//
//
// A kernel of channels computes what a kernel of many elements would compute
// for each of them. It changes no bit: the numbers of channels are the same as
// those of a function that makes nothing else.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "OnBothTargets.h"

using namespace mp;
using namespace llvm;

namespace {

constexpr int64_t kChannels = 24, kPlaces = 1024;

/// 1 / deviation of a channel, and what it makes of an element.
std::string moduleOf(StringRef element) {
  std::string images = "tensor<4x16x16x24x" + element.str() + ">";
  std::string channels = "tensor<24x" + element.str() + ">";
  std::string ofChannels = "  %e = mp.constant dense<0.125> : " + channels +
                           "\n  %a = mp.add %v, %e : " + channels + ", " +
                           channels + "\n  %s = mp.sqrt %a : " + channels +
                           "\n  %k = mp.div %w, %s : " + channels + ", " +
                           channels + "\n";
  std::string ofImages = "  %y = mp.mul %x, %k : " + images + ", " + channels +
                         "\n  %r = mp.relu %y : " + images + "\n";
  std::string arguments = "%v: " + channels + ", %w: " + channels;
  return "func.func @together(" + arguments + ", %x: " + images + ") -> " +
         images + " {\n" + ofChannels + ofImages + "  return %r : " + images +
         "\n}\nfunc.func @channels(" + arguments + ") -> " + channels + " {\n" +
         ofChannels + "  return %k : " + channels +
         "\n}\nfunc.func @images(%k: " + channels + ", %x: " + images +
         ") -> " + images + " {\n" + ofImages + "  return %r : " + images +
         "\n}\n";
}

Numbers numbersOf(int64_t count, int64_t step) {
  Numbers numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = i * step % 53 / 8.0 + 1;
  return numbers;
}

/// How many kernels a function has, and its result.
std::pair<size_t, Numbers> run(const std::string &module, StringRef function,
                               const std::vector<Numbers> &arguments,
                               Device device) {
  auto compiled = GoldenFunction::compile(module, function, device);
  if (!compiled) {
    ADD_FAILURE() << toString(compiled.takeError()) << module;
    return {};
  }
  return {compiled->entry().steps.size(),
          cantFail((*compiled)(arguments)).front()};
}

MP_ON_BOTH_TARGETS(ChannelsOnce);

TEST_P(ChannelsOnce, HaveTheBitsOfAFunctionOfTheirOwn) {
  for (StringRef element : {"f32", "f16", "bf16"}) {
    SCOPED_TRACE(element.str());
    std::string module = moduleOf(element);
    Numbers v = numbersOf(kChannels, 7), w = numbersOf(kChannels, 11);
    Numbers x = numbersOf(kChannels * kPlaces, 37);
    auto [kernels, together] = run(module, "together", {v, w, x}, GetParam());
    EXPECT_EQ(kernels, 2u);
    Numbers k = run(module, "channels", {v, w}, GetParam()).second;
    EXPECT_EQ(together, run(module, "images", {k, x}, GetParam()).second);
  }
}

} // namespace
