//===- Check.cpp - gradient rules against central differences -------------===//
#include "precision/gradients/Check.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using llvm::formatv;

namespace mp::precision {

/// The error of a central difference is about step^2 and 1e-16 / step.
static constexpr double kStep = 1e-5;

namespace {
/// The derivatives of the loss by the elements of one operand.
struct Comparison {
  double largest = 0; ///< of all derivatives, the rule's and the differences'
  double worst = 0;   ///< difference, and where it is
  size_t at = 0;
  double rule = 0, numeric = 0; ///< there

  double relative() const { return largest > 0 ? worst / largest : 0; }
  void add(size_t element, double exact, double central) {
    largest = std::max({largest, std::abs(exact), std::abs(central)});
    double difference = std::abs(exact - central);
    if (difference > worst || std::isnan(difference))
      worst = difference, at = element, rule = exact, numeric = central;
  }
};
} // namespace

/// The loss of one operand's derivatives; `operands` are unchanged afterwards.
static llvm::Expected<Comparison> compare(NumberFunction &loss,
                                          std::vector<Numbers> &operands,
                                          Numbers &varied,
                                          const Numbers &exact) {
  Comparison comparison;
  for (size_t i = 0; i < varied.size(); ++i) {
    double saved = varied[i], losses[2];
    for (int side : {0, 1}) {
      varied[i] = side ? saved + kStep : saved - kStep;
      auto results = loss(operands);
      if (!results)
        return results.takeError();
      losses[side] = results->front().front();
    }
    varied[i] = saved;
    comparison.add(i, exact.at(i), (losses[1] - losses[0]) / (2 * kStep));
  }
  return comparison;
}

/// What is wrong with the derivatives by an operand; "" if nothing is.
static std::string faultOf(const Comparison &found, bool flat) {
  // A NaN is never within the tolerance.
  if (!(found.worst <= kGradientTolerance * found.largest))
    return formatv("at element {0} the rule gives {1:e6}, and a central "
                   "difference {2:e6}",
                   found.at, found.rule, found.numeric);
  if (flat && found.largest != 0)
    return "a derivative is not zero, and the sample calls the operand flat";
  if (!flat && found.largest == 0)
    return "all derivatives are zero, and the sample does not call the operand "
           "flat";
  return "";
}

/// Adds what is found of one sample.
static llvm::Error checkSample(MLIRContext &context, const OpSample &text,
                               GradientCheck &check) {
  auto sample = makeModules(context, text);
  if (!sample)
    return sample.takeError();
  auto loss = NumberFunction::compile(sample->backward, "f");
  if (!loss)
    return loss.takeError();
  auto gradient = NumberFunction::compile(sample->backward, "f.gradient");
  if (!gradient)
    return gradient.takeError();
  auto exact = (*gradient)(sample->operands);
  if (!exact)
    return exact.takeError();
  size_t next = 0;
  for (auto [number, type] : llvm::enumerate(sample->types)) {
    if (!isa<FloatType>(type.getElementType()))
      continue;
    const Numbers &derivatives = exact->at(next++);
    // Only f64 operands are differentiated; a scale in f32 is a constant.
    if (!type.getElementType().isF64())
      continue;
    auto found =
        compare(*loss, sample->operands, sample->operands[number], derivatives);
    if (!found)
      return found.takeError();
    check.difference = std::max(check.difference, found->relative());
    std::string fault = faultOf(*found, text.operands[number].flat);
    if (!fault.empty())
      check.faults.push_back(
          formatv("{0}: operand {1}: {2}", text.op, number, fault));
  }
  return llvm::Error::success();
}

GradientCheck checkGradient(MLIRContext &context, const DifferentiableOp &op) {
  GradientCheck check;
  check.op = op.name;
  check.samples = op.samples.size();
  if (op.samples.empty())
    check.faults.push_back("sampleInputs returns no sample");
  for (const OpSample &sample : op.samples)
    if (llvm::Error error = checkSample(context, sample, check))
      check.faults.push_back(sample.op + ": " + toString(std::move(error)));
  return check;
}

} // namespace mp::precision
