//===- permuted-copy-test.cpp - dimensions in another order ---------------===//
//
// Every order of up to five dimensions against a loop over all elements, with
// sizes around those of tiles, and bytes that no tensor owns.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/PermutedCopy.h"
#include "support/Permutation.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

using namespace mp;

namespace {

/// Element by element: place i of the copy is place dims[i] of the tensor.
std::vector<char> expectedCopy(const TensorType &type,
                               const std::vector<int64_t> &dims,
                               const std::vector<char> &from) {
  int64_t width = byteWidth(type.element);
  std::vector<int64_t> strides(type.shape.size(), width);
  for (size_t i = strides.size(); i-- > 1;)
    strides[i - 1] = strides[i] * type.shape[i];
  std::vector<int64_t> sizes = permuted(type.shape, dims);
  std::vector<char> copy;
  for (int64_t element = 0; element < type.elements(); ++element) {
    int64_t rest = element, place = 0;
    for (size_t i = sizes.size(); i-- > 0; rest /= sizes[i])
      place += rest % sizes[i] * strides[dims[i]];
    copy.insert(copy.end(), from.begin() + place, from.begin() + place + width);
  }
  return copy;
}

/// Compares all orders of a shape, from and to bytes that are not aligned.
void checkOrders(ElementType element, const std::vector<int64_t> &shape) {
  TensorType type{element, shape};
  uint64_t bytes = type.bytes();
  std::vector<char> from(bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    from[i] = static_cast<char>(i * 7 + i / 251);
  std::vector<int64_t> dims(shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  do {
    std::vector<char> shifted(bytes + 1), to(bytes + 2, 'x');
    std::copy(from.begin(), from.end(), shifted.begin() + 1);
    copyPermuted(type, dims, {shifted.data() + 1, bytes},
                 {to.data() + 1, bytes});
    EXPECT_TRUE(std::equal(to.begin() + 1, to.end() - 1,
                           expectedCopy(type, dims, from).begin()))
        << type.str() << " " << dimsText(dims);
    EXPECT_EQ(to.front(), 'x') << type.str() << " " << dimsText(dims);
    EXPECT_EQ(to.back(), 'x') << type.str() << " " << dimsText(dims);
  } while (std::next_permutation(dims.begin(), dims.end()));
}

TEST(PermutedCopy, EveryOrderOfEveryWidth) {
  for (ElementType element : {ElementType::U8, ElementType::BF16,
                              ElementType::F32, ElementType::F64}) {
    checkOrders(element, {});
    checkOrders(element, {5});
    checkOrders(element, {3, 4});
    checkOrders(element, {2, 1, 5});
    checkOrders(element, {4, 3, 2, 5});
    checkOrders(element, {2, 3, 2, 3, 2});
  }
}

TEST(PermutedCopy, SizesAroundATile) {
  for (int64_t size : {7, 8, 9, 15, 16, 17, 33, 64, 65, 130}) {
    checkOrders(ElementType::U8, {size, 67});
    checkOrders(ElementType::F16, {size, 35});
    checkOrders(ElementType::F32, {3, size, 17});
    checkOrders(ElementType::F64, {size, 2, 9});
  }
}

TEST(PermutedCopy, NoElements) {
  checkOrders(ElementType::F32, {0});
  checkOrders(ElementType::F32, {3, 0, 2});
}

TEST(PermutedCopy, InverseUndoes) {
  std::vector<int64_t> dims = {2, 0, 3, 1};
  TensorType type{ElementType::F32, {2, 3, 4, 5}};
  std::vector<char> from(type.bytes()), there(from.size()), back(from.size());
  std::iota(from.begin(), from.end(), 0);
  copyPermuted(type, dims, from, there);
  copyPermuted(type.permuted(dims), inverse(dims), there, back);
  EXPECT_EQ(back, from);
}

} // namespace
