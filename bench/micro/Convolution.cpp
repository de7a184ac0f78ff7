//===- Convolution.cpp - the convolutions that are measured ---------------===//
#include "Runner.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mp;
using namespace mp::micro;

ArrayRef<Convolution> micro::convolutions() {
  static constexpr Convolution all[] = {
      {"cifar-first", 128, 32, 3, 16, 3, 1},
      {"cifar-32", 128, 32, 16, 16, 3, 1},
      {"cifar-16", 128, 16, 32, 32, 3, 1},
      {"cifar-8", 128, 8, 64, 64, 3, 1},
      {"cifar-32-half", 128, 32, 16, 32, 3, 2},
      {"cifar-16-half", 128, 16, 32, 64, 3, 2},
      {"cifar-32-short", 128, 32, 16, 32, 1, 2},
      {"stem", 8, 224, 3, 64, 7, 2},
      {"56-even", 8, 56, 64, 64, 1, 1},
      {"56", 8, 56, 64, 64, 3, 1},
      {"56-wide", 8, 56, 64, 256, 1, 1},
      {"56-narrow", 8, 56, 256, 64, 1, 1},
      {"56-next", 8, 56, 256, 128, 1, 1},
      {"56-half", 8, 56, 128, 128, 3, 2},
      {"56-short", 8, 56, 256, 512, 1, 2},
      {"28", 8, 28, 128, 128, 3, 1},
      {"28-wide", 8, 28, 128, 512, 1, 1},
      {"28-narrow", 8, 28, 512, 128, 1, 1},
      {"28-next", 8, 28, 512, 256, 1, 1},
      {"28-half", 8, 28, 256, 256, 3, 2},
      {"28-short", 8, 28, 512, 1024, 1, 2},
      {"14", 8, 14, 256, 256, 3, 1},
      {"14-wide", 8, 14, 256, 1024, 1, 1},
      {"14-narrow", 8, 14, 1024, 256, 1, 1},
      {"14-next", 8, 14, 1024, 512, 1, 1},
      {"14-half", 8, 14, 512, 512, 3, 2},
      {"14-short", 8, 14, 1024, 2048, 1, 2},
      {"7", 8, 7, 512, 512, 3, 1},
      {"7-wide", 8, 7, 512, 2048, 1, 1},
      {"7-narrow", 8, 7, 2048, 512, 1, 1},
  };
  return all;
}

StringRef micro::nameOf(ConvolutionKind kind) {
  constexpr StringLiteral names[] = {"forward", "input", "weight"};
  return names[static_cast<int>(kind)];
}

std::string micro::textOf(const Convolution &c, ConvolutionKind kind,
                          StringRef type) {
  int64_t padding = c.window / 2;
  int64_t places = (c.side + 2 * padding - c.window) / c.stride + 1;
  auto images = [&](int64_t side, int64_t channels) -> std::string {
    return formatv("tensor<{0}x{1}x{1}x{2}x{3}>", c.images, side, channels,
                   type);
  };
  std::string input = images(c.side, c.in), result = images(places, c.out);
  std::string weight =
      formatv("tensor<{0}x{1}x{1}x{2}x{3}>", c.out, c.window, c.in, type);
  std::string window = formatv("strides[{0}, {0}] low[{1}, {1}] high[{1}, {1}]",
                               c.stride, padding);
  auto function = [&](StringRef op, const std::string &x, const std::string &y,
                      int64_t size, const std::string &to) -> std::string {
    std::string sizes =
        size ? std::string(formatv(" size[{0}, {0}]", size)) : "";
    return formatv("func.func @f(%x: {0}, %y: {1}) -> {2} {{\n"
                   "  %0 = mp.{3} %x, %y{4} {5} : {0}, {1}\n"
                   "  return %0 : {2}\n}\n",
                   x, y, to, op, sizes, window);
  };
  switch (kind) {
  case ConvolutionKind::Forward:
    return function("conv2d", input, weight, 0, result);
  case ConvolutionKind::Input:
    return function("conv2d_backward_input", result, weight, c.side, input);
  case ConvolutionKind::Weight:
    return function("conv2d_backward_weight", result, input, c.window, weight);
  }
  llvm_unreachable("all kinds are handled");
}
