//===- Difference.cpp - how far values are from those in f64 --------------===//
#include "precision/compare/Difference.h"
#include "runtime/data/Convert.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;

namespace mp::precision {

double Difference::relativeL2() const {
  return distance2 == 0 ? 0 : std::sqrt(distance2 / reference2);
}

void Difference::add(const Difference &other) {
  distance2 += other.distance2;
  reference2 += other.reference2;
  error = std::max(error, other.error);
  nonFinite += other.nonFinite;
  beyond += other.beyond;
  elements += other.elements;
}

static std::vector<double> numbersOf(const Tensor &tensor) {
  std::vector<double> numbers(tensor.type.elements());
  unsigned width = byteWidth(tensor.type.element);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        loadElement(tensor.type.element, tensor.bytes.data() + i * width);
  return numbers;
}

Difference compare(const Tensor &x, const Tensor &reference, double tolerance,
                   double scale) {
  std::vector<double> values = numbersOf(x), wide = numbersOf(reference);
  double largest = 0;
  for (double number : wide)
    if (std::isfinite(number))
      largest = std::max(largest, std::fabs(number));
  Difference difference;
  difference.elements = values.size();
  for (auto [value, exact] : zip_equal(values, wide)) {
    if (!std::isfinite(exact))
      continue;
    if (!std::isfinite(value)) {
      ++difference.nonFinite;
      ++difference.beyond;
      continue;
    }
    double distance = std::fabs(value / scale - exact);
    difference.distance2 += distance * distance;
    difference.reference2 += exact * exact;
    double error = distance == 0 ? 0 : distance / largest;
    difference.error = std::max(difference.error, error);
    difference.beyond += error > tolerance;
  }
  return difference;
}

int64_t opOf(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  size_t place = name.starts_with("gradient.") ? 2 : 1;
  int64_t number = 0;
  if (place < parts.size())
    to_integer(parts[place], number);
  return number;
}

std::map<int64_t, OpDifference> compareAll(const Values &values,
                                           const Values &reference,
                                           double tolerance, double scale) {
  std::map<int64_t, OpDifference> all;
  for (const auto &[name, value] : values) {
    auto wide = reference.find(name);
    if (wide == reference.end())
      continue;
    bool isGradient = StringRef(name).starts_with("gradient.");
    OpDifference &op = all[opOf(name)];
    std::optional<Difference> &difference = isGradient ? op.gradient : op.value;
    if (!difference)
      difference.emplace();
    difference->add(
        compare(value, wide->second, tolerance, isGradient ? scale : 1));
  }
  return all;
}

} // namespace mp::precision
