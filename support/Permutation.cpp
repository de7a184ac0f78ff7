//===- Permutation.cpp - dimensions in another order ----------------------===//
#include "support/Permutation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace mp {

std::string whyNotPermutation(ArrayRef<int64_t> dims, int64_t rank) {
  if (static_cast<int64_t>(dims.size()) != rank)
    return formatv("has {0} {1}, expected {2}", dims.size(),
                   dims.size() == 1 ? "entry" : "entries", rank);
  std::vector<bool> seen(dims.size());
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return formatv("names dimension {0}, expected 0 to {1}", dim, rank - 1);
    if (seen[dim])
      return formatv("names dimension {0} twice", dim);
    seen[dim] = true;
  }
  return "";
}

bool isIdentity(ArrayRef<int64_t> dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != static_cast<int64_t>(i))
      return false;
  return true;
}

std::vector<int64_t> permuted(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return sizes.vec();
  std::vector<int64_t> result;
  for (int64_t dim : dims)
    result.push_back(sizes[dim]);
  return result;
}

std::vector<int64_t> inverse(ArrayRef<int64_t> dims) {
  std::vector<int64_t> result(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    result[dims[i]] = i;
  return result;
}

std::string dimsText(ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

} // namespace mp
