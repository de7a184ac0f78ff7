//===- Gradients.cpp - how far parameters' gradients are from f64 ---------===//
#include "precision/search/Gradients.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include <cmath>

using namespace llvm;

namespace mp::precision {

/// A gradient below this share of the largest is a sum of rounding errors.
constexpr double kNothing = 1e-10;

/// Returns the largest magnitude; infinite if one element is.
static double largestOf(const Tensor &tensor) {
  double largest = 0;
  unsigned width = byteWidth(tensor.type.element);
  for (int64_t i = 0, end = tensor.type.elements(); i < end; ++i) {
    double x =
        loadElement(tensor.type.element, tensor.bytes.data() + i * width);
    if (!std::isfinite(x))
      return INFINITY;
    largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

/// Returns an error for the first result of the reference that is not finite,
/// in the order of forward and then of backward.
static Error checkFinite(const Subject &subject, const Variant &variant,
                         const Values &values, size_t batch) {
  for (bool isGradient : {false, true}) {
    std::vector<int64_t> order;
    for (const auto &[number, op] : variant.ops)
      order.push_back(number);
    if (isGradient)
      std::reverse(order.begin(), order.end());
    for (int64_t number : order)
      for (const auto &[name, tensor] : values) {
        bool isOf = opOf(name) == number &&
                    StringRef(name).starts_with("gradient.") == isGradient;
        if (!isOf || std::isfinite(largestOf(tensor)))
          continue;
        const OpFacts &op = variant.ops.at(number);
        return makeError("{0}: in f64 already {1}{2} is infinite or NaN, in "
                         "batch {3}: there "
                         "is nothing to be within a tolerance of\n  {4}",
                         op.source.str().empty() ? subject.filename
                                                 : op.source.str(),
                         isGradient ? "the gradient of " : "", op.name,
                         batch + 1, subject.line(op.source));
      }
  }
  return Error::success();
}

Expected<GradientReference> GradientReference::create(const Subject &subject,
                                                      Measurer &measurer) {
  GradientReference reference;
  auto made = makeVariant(subject, referenceSetting());
  if (!made)
    return made.takeError();
  reference.variant = std::move(*made);
  auto batches = measurer.evaluate(referenceSetting(), reference.variant);
  if (!batches)
    return batches.takeError();
  std::map<std::string, double> largest;
  double most = 0;
  for (auto [i, values] : llvm::enumerate(*batches)) {
    if (Error error = checkFinite(subject, reference.variant, values, i))
      return std::move(error);
    Values &kept = reference.gradients.emplace_back();
    for (auto &[name, tensor] : values) {
      const OpFacts &op = reference.variant.ops.at(opOf(name));
      if (!StringRef(name).starts_with("gradient.") || op.variable.empty())
        continue;
      double &own = largest[name];
      own = std::max(own, largestOf(tensor));
      most = std::max(most, own);
      kept[name] = std::move(tensor);
    }
  }
  if (most == 0)
    return makeError("{0}: no parameter of @{1} has a gradient other than zero",
                     subject.filename, subject.function);
  for (const auto &[name, own] : largest) {
    if (own > kNothing * most)
      continue;
    reference.leftOut.push_back(reference.parameter(opOf(name)));
    for (Values &kept : reference.gradients)
      kept.erase(name);
  }
  return reference;
}

Expected<GradientError> GradientReference::measure(const Subject &subject,
                                                   const Setting &setting,
                                                   Measurer &measurer) const {
  auto first = measureAt(subject, setting, measurer);
  if (!first || first->nonFinite == 0)
    return first;
  auto settled = measurer.settleBelow(setting, first->scale);
  if (!settled)
    return settled.takeError();
  if (!*settled)
    return first;
  Setting walked = setting;
  walked.scale = (*settled)->scale;
  auto error = measureAt(subject, walked, measurer);
  if (error)
    error->settled = *settled;
  return error;
}

Expected<GradientError> GradientReference::measureAt(const Subject &subject,
                                                     const Setting &setting,
                                                     Measurer &measurer) const {
  auto made = makeVariant(subject, setting, Expose::ParameterGradients);
  if (!made)
    return made.takeError();
  auto batches = measurer.evaluate(setting, *made);
  if (!batches)
    return batches.takeError();
  GradientError worst;
  worst.scale = made->scale;
  for (auto [i, values] : llvm::enumerate(*batches))
    for (const auto &[name, exact] : gradients[i]) {
      auto found = values.find(name);
      if (found == values.end())
        continue;
      Difference difference =
          compare(found->second, exact, INFINITY, made->scale);
      double error = difference.nonFinite ? INFINITY : difference.error;
      worst.l2 = std::max(
          worst.l2, difference.nonFinite ? INFINITY : difference.relativeL2());
      if (worst.number != 0 && error <= worst.error)
        continue;
      worst.error = error;
      worst.nonFinite = difference.nonFinite;
      worst.number = opOf(name);
      worst.batch = i;
    }
  return worst;
}

std::string GradientReference::parameter(int64_t number) const {
  return "@" + variant.ops.at(number).variable;
}

const OpFacts *GradientReference::user(int64_t number) const {
  for (const auto &[user, op] : variant.ops)
    if (is_contained(op.operands, number))
      return &op;
  return nullptr;
}

} // namespace mp::precision
