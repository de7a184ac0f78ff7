//===- CalibrationReport.cpp - gradient statistics as text, SVG and JSON --===//
#include "runtime/numerics/Calibration.h"
#include "runtime/report/Histogram.h"
#include "runtime/train/Progress.h"
#include "support/Error.h"
#include "support/Json.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace mp {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static StringRef nameOf(Fate fate) {
  switch (fate) {
  case Fate::Flushed:
    return "zero";
  case Fate::Subnormal:
    return "subnormal";
  case Fate::Normal:
    return "normal";
  case Fate::NearOverflow:
    return "near 65504";
  case Fate::Overflow:
    return "infinite";
  }
  llvm_unreachable("all fates covered");
}

/// "as is", or "at 1024".
static std::string scaleHeading(const Ledger &ledger) {
  return ledger.scale == 1 ? "as is" : "at " + scaleText(ledger.scale);
}

/// Prints one row per exponent; exponents far below the largest share a row.
/// The middle number of an exponent's interval stands for all.
static void printHistogram(raw_ostream &os, const Calibration &calibration) {
  const Ledger &ledger = calibration.ledger;
  Magnitudes all = ledger.all().magnitudes;
  auto exponents = all.exponents();
  uint64_t tallest = 0;
  for (auto [exponent, count] : exponents)
    tallest = std::max(tallest, count);
  auto share = [&](uint64_t count) {
    os << format("%7.2f%%", 100.0 * count / all.elements());
  };
  auto fate = [&](int e, double scale) {
    return nameOf(fateInHalf(std::ldexp(1.5, e) * scale, ledger.headroom));
  };
  std::string heading = "f16 " + scaleHeading(ledger);
  size_t width = std::max<size_t>(heading.size() + 2, 12);
  os << "   2^e     share  " << left_justify(heading, width) << "f16 scaled\n";
  int rest = std::ilogb(all.largest) - 72;
  uint64_t below = 0;
  for (auto [e, count] : reverse(exponents)) {
    if (e <= rest) {
      below += count;
      continue;
    }
    os << format("%6d  ", e);
    share(count);
    std::string bar(40 * count / tallest, '#');
    os << "  " << left_justify(fate(e, ledger.scale), width)
       << left_justify(fate(e, calibration.scale()), bar.empty() ? 0 : 12)
       << bar << "\n";
  }
  if (below) {
    os << "  less  ";
    share(below);
    os << "  " << left_justify(fate(rest, ledger.scale), width)
       << fate(rest, calibration.scale()) << "\n";
  }
  os << "  zero  ";
  share(all.zeros);
  os << "\n";
}

static void printWorst(raw_ostream &os, const Calibration &calibration,
                       size_t most) {
  struct Row {
    const GradientStatistics *gradient;
    HalfCounts before, after;
  };
  const Ledger &ledger = calibration.ledger;
  std::vector<Row> rows;
  for (const GradientStatistics &gradient : ledger.gradients)
    rows.push_back(
        {&gradient, gradient.scaled,
         gradient.magnitudes.inHalf(calibration.exponent, ledger.headroom)});
  auto lost = [](const Row &row) {
    return std::pair(row.before.share(Fate::Flushed),
                     row.before.share(Fate::Subnormal));
  };
  stable_sort(rows,
              [&](auto &one, auto &other) { return lost(one) > lost(other); });
  os << "       " << left_justify(scaleHeading(ledger), 17)
     << "scaled       largest  gradient of\n"
        "   zero  subnormal   zero  subnormal\n";
  for (const Row &row : ArrayRef(rows).take_front(most))
    os << format("%6.1f%%    %6.1f%% %6.1f%%    %6.1f%%  %8.1e  ",
                 100 * row.before.share(Fate::Flushed),
                 100 * row.before.share(Fate::Subnormal),
                 100 * row.after.share(Fate::Flushed),
                 100 * row.after.share(Fate::Subnormal),
                 row.gradient->magnitudes.largest)
       << row.gradient->str() << "\n";
  if (rows.size() > most)
    os << rows.size() - most << " more, which lose no more\n";
}

/// Describes what the ledger's scale does to all gradients together.
static void printAll(raw_ostream &os, const Ledger &ledger) {
  GradientStatistics all = ledger.all();
  os << all.magnitudes.elements() << " elements, of which "
     << all.magnitudes.zeros << " are zero; of the others, "
     << scaleHeading(ledger) << ", f16 makes";
  StringRef separator = " ";
  for (int i = 0; i < kFates; ++i) {
    Fate fate = static_cast<Fate>(i);
    os << separator << all.scaled[fate] << " " << nameOf(fate);
    separator = ", ";
  }
  os << "\n";
}

std::string Calibration::summary() const {
  const GradientStatistics &most = ledger.largest();
  std::string text;
  raw_string_ostream(text) << "loss scale "
                           << StringRef(scaler()).split(':').second << " (2^"
                           << exponent << ") chosen from " << batches
                           << (batches == 1 ? " batch" : " batches")
                           << ": the largest gradient, "
                           << format("%.3g", most.magnitudes.largest) << " of "
                           << most.str() << ", becomes "
                           << format("%.5g", most.magnitudes.largest * scale())
                           << ", and may grow by 2^" << ledger.headroom
                           << " before it reaches 65504";
  return text;
}

std::string toText(const Calibration &calibration, size_t most) {
  std::string text;
  raw_string_ostream os(text);
  const Ledger &ledger = calibration.ledger;
  os << ledger.gradients.size() << " gradients that are f16 in training, "
     << calibration.batches
     << (calibration.batches == 1 ? " batch of " : " batches of ")
     << calibration.rows << " samples, computed in f32\n\n";
  printHistogram(os, calibration);
  os << "\n";
  printAll(os, ledger);
  os << "\n";
  printWorst(os, calibration, most);
  os << "\n"
     << calibration.summary() << "\n"
     << "train with --scaler " << calibration.scaler()
     << ", or --scaler static:auto, which does this by itself\n";
  if (size_t lost = ledger.lostAt(calibration.exponent))
    os << lost << (lost == 1 ? " gradient becomes" : " gradients become")
       << " zero all the same, more than half of each: --scales, with the file "
          "of --json, gives each a scale of its own\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Picture
//===----------------------------------------------------------------------===//

std::string toPicture(const Calibration &calibration) {
  const Ledger &ledger = calibration.ledger;
  Magnitudes all = ledger.all().magnitudes;
  auto exponents = all.exponents();
  std::string title;
  raw_string_ostream(title) << "Gradients of " << calibration.module << ", "
                            << ledger.gradients.size() << " tensors, "
                            << all.elements() << " elements";
  GradientSizes sizes{
      {exponents.begin(), exponents.end()}, all.zeros, ledger.headroom};
  return histogramPicture(title, sizes, {ledger.scale, calibration.scale()});
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

std::string toJson(const Calibration &calibration, StringRef path) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os, /*IndentSize=*/2);
  const Ledger &ledger = calibration.ledger;
  json.object([&] {
    json.attribute("module", validUtf8(calibration.module));
    json.attribute("batch", calibration.rows);
    json.attribute("batches", calibration.batches);
    json.attribute("records", ledger.samples);
    json.attribute("headroom", ledger.headroom);
    json.attribute("scale", calibration.scale());
    json.attribute("ledger_scale", ledger.scale);
    writeGradients(json, ledger);
    writeAdvice(json, advise(ledger, {.path = path.str()}));
  });
  os << "\n";
  return text;
}

} // namespace mp
