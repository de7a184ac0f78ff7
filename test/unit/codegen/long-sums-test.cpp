//===- long-sums-test.cpp - many equal terms ------------------------------===//
//
// Equal terms are the worst case of a floating-point sum: roundings of
// successive partial sums have one sign, so that the error of n terms, added
// one after the other, is up to n units of roundoff. Here no mean has an error
// of more than 32 units for any number of terms and any dimension (on CUDA 64,
// as a thread adds its part of a row in one chain); and a norm of equal numbers
// is zero.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "OnBothTargets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mp;
using namespace llvm;

namespace {

class LongSums : public testing::TestWithParam<Device::Kind> {
protected:
  /// Returns the first result of `op` on %x, all of whose elements are
  /// `number`.
  Numbers evaluate(const std::string &op, const TensorType &type,
                   const std::string &result, float number) {
    std::string module = formatv("func.func @f(%x: tensor<{0}>) -> tensor<{1}> "
                                 "{{\n  {2}\n  return %r#0 : tensor<{1}>\n}\n",
                                 type.str(), result, op);
    Expected<GoldenFunction> function =
        GoldenFunction::compile(module, "", {GetParam(), 0});
    if (!function) {
      ADD_FAILURE() << toString(function.takeError()) << "\n" << module;
      return {};
    }
    Expected<std::vector<Numbers>> computed =
        (*function)({Numbers(type.elements(), number)});
    if (!computed) {
      ADD_FAILURE() << toString(computed.takeError()) << "\n" << module;
      return {};
    }
    return computed->front();
  }
};

TEST_P(LongSums, ErrByAFewRoundings) {
  struct {
    std::vector<int64_t> shape, dims;
  } cases[] = {
      {{300000}, {0}},           // one number
      {{3, 100000}, {1}},        // along rows
      {{3000, 32}, {0}},         // down the columns, in strips
      {{100000, 3}, {0}},        // down the columns, in whole rows
      {{20000, 64}, {0}},        //
      {{20000, 7}, {0, 1}},      // rows, then their sums
      {{3, 5000, 7}, {1}},       // in the middle
      {{3, 40, 500, 7}, {0, 2}}, // dimensions that lie apart
  };
  const float term = 0.1f;
  double units = GetParam() == Device::Kind::Cuda ? 64 : 32;
  for (auto &[shape, dims] : cases) {
    TensorType type{ElementType::F32, shape}, kept = type;
    std::string list;
    for (int64_t dim : dims) {
      kept.shape[dim] = 1;
      list += (list.empty() ? "" : ", ") + std::to_string(dim);
    }
    SCOPED_TRACE(type.str() + " over " + list);
    Numbers means = evaluate(formatv("%r:1 = mp.mean %x dims[{0}] keepdim : "
                                     "tensor<{1}>",
                                     list, type.str()),
                             type, kept.str(), term);
    ASSERT_EQ(int64_t(means.size()), kept.elements());
    for (double mean : means)
      ASSERT_LE(std::abs(mean - term), units * 0x1p-24 * term);
  }
}

// The mean of equal numbers is that number, although a sum of them is rounded:
// the norm would divide a residue by nearly nothing.
TEST_P(LongSums, NormsOfEqualNumbersAreZero) {
  const float number = 12345.678f;
  auto check = [&](const std::string &op, std::vector<int64_t> shape) {
    TensorType type{ElementType::F32, shape};
    SCOPED_TRACE(op);
    for (double y : evaluate(op, type, type.str(), number))
      ASSERT_EQ(y, 0);
  };
  check("%r:3 = mp.layer_norm %x normalized_shape[1000] : "
        "tensor<3x1000xf32>",
        {3, 1000});
  check("%r:3 = mp.group_norm %x groups(2) : tensor<3x6x7x11xf32>",
        {3, 6, 7, 11});
  std::string running = "%z = mp.constant dense<0.0> : tensor<6xf32>\n  ";
  check(running + "%r:5 = mp.batch_norm %x, %z, %z : "
                  "tensor<37x6xf32>, tensor<6xf32>, tensor<6xf32>",
        {37, 6});
  check(running + "%r:5 = mp.batch_norm %x, %z, %z : "
                  "tensor<3x6x7x11xf32>, tensor<6xf32>, tensor<6xf32>",
        {3, 6, 7, 11});
}

INSTANTIATE_TEST_SUITE_P(Targets, LongSums,
                         testing::Values(Device::Kind::Cpu, Device::Kind::Cuda),
                         [](const testing::TestParamInfo<Device::Kind> &info) {
                           return info.param == Device::Kind::Cpu ? "Cpu"
                                                                  : "Cuda";
                         });

} // namespace
