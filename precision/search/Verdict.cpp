//===- Verdict.cpp - the result of a search, in one sentence --------------===//
#include "precision/search/Precision.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace mp::precision {

/// Tells how many colourings were not measured.
static std::string extent(const PrecisionReport &report,
                          const PrecisionOptions &options) {
  const ColouringResult &search = report.search;
  if (search.isProven)
    return formatv("proven: all {0} colourings were counted, and every cheaper "
                   "one is beyond the tolerance",
                   uint64_t(1) << report.units.free.size());
  if (search.isBounded)
    return formatv("not proven: --max-evaluations {0} ended the search",
                   options.maxEvaluations);
  return "not proven: no single change of it is cheaper within the tolerance";
}

std::string verdict(const PrecisionReport &report,
                    const PrecisionOptions &options) {
  bool byTime = options.byTime;
  const PrecisionRow &found = report.found(), &torch = report.torch(),
                     &plain = report.rows.front();
  StringRef what = byTime ? "time" : "bytes";
  // Two medians of one step differ as much; three digits are printed.
  double cheaper = byTime ? 0.98 : 0.9995;
  std::string text;
  if (torch.trains()) {
    double share = found.cost(byTime) / torch.cost(byTime);
    bool isWithin = torch.isWithin(options.tolerance);
    bool isCheaper = share < cheaper;
    if (isCheaper)
      text = formatv("cheaper than torch: {0:f3} of its {1} at error {2:e1} "
                     "(torch {3:e1}{4})",
                     share, what, found.gradients.error, torch.gradients.error,
                     isWithin ? "" : ", beyond the tolerance");
    else if (isWithin)
      text = formatv("no colouring tried is cheaper than torch within {0:e1}: "
                     "the best has {1:f3} of its {2} at error {3:e1} (torch "
                     "{4:e1})",
                     options.tolerance, share, what, found.gradients.error,
                     torch.gradients.error);
    else
      text = formatv("torch is beyond the tolerance ({0:e1}), and the cheapest "
                     "within it has {1:f3} of its {2} at error {3:e1}",
                     torch.gradients.error, share, what, found.gradients.error);
  } else {
    text = formatv("torch's policy cannot be trained with here; the cheapest "
                   "within the tolerance has {0:f3} of f32's {1} at error "
                   "{2:e1}",
                   found.cost(byTime) / plain.cost(byTime), what,
                   found.gradients.error);
  }
  if (plain.cost(byTime) < cheaper * found.cost(byTime))
    text += formatv("; --precision fp32 is cheaper still, {0:f3} of it",
                    plain.cost(byTime) / found.cost(byTime));
  return text + "; " + extent(report, options);
}

} // namespace mp::precision
