//===- ClassWeights.cpp - weights that balance classes --------------------===//
#include "runtime/data/ClassWeights.h"
#include "program/Limits.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace mp {

/// More classes than any data set has: the counts fit into memory.
static constexpr int64_t kMostClasses = 1 << 24;

Expected<std::vector<int64_t>> countClasses(const Array &labels,
                                            int64_t classes) {
  ElementType type = labels.type.element;
  if (!isInteger(type) || type == ElementType::I1)
    return makeError("holds {0} elements, expected labels, which are integers",
                     elementTypeName(type));
  constexpr int64_t ignored = -100;
  std::vector<int64_t> counts(classes);
  unsigned width = byteWidth(type);
  for (int64_t i = 0, e = labels.type.elements(); i < e; ++i) {
    int64_t label = loadInteger(type, labels.bytes.data() + i * width);
    if (label == ignored)
      continue;
    if (label < 0 || label >= (classes ? classes : kMostClasses))
      return makeError("label {0} is {1}, expected 0 to {2} or {3}", i, label,
                       (classes ? classes : kMostClasses) - 1, ignored);
    if (label >= static_cast<int64_t>(counts.size()))
      counts.resize(label + 1);
    ++counts[label];
  }
  return counts;
}

std::vector<float> balancedWeights(ArrayRef<int64_t> counts) {
  auto labels = static_cast<double>(
      std::accumulate(counts.begin(), counts.end(), int64_t(0)));
  auto classes =
      static_cast<double>(count_if(counts, [](int64_t n) { return n > 0; }));
  std::vector<float> weights;
  for (int64_t count : counts)
    weights.push_back(count
                          ? static_cast<float>(
                                labels / (classes * static_cast<double>(count)))
                          : 0.0f);
  return weights;
}

} // namespace mp
