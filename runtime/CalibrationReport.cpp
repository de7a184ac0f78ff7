//===- CalibrationReport.cpp - the sizes of gradients, for people ---------===//
#include "runtime/Calibration.h"
#include "runtime/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace mp {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// One row an exponent; what is far below the largest number is one row.
static void printHistogram(raw_ostream &os, const Calibration &calibration) {
  Magnitudes all = calibration.all();
  uint64_t nonZeros = all.nonZeros(), elements = nonZeros + all.zeros;
  uint64_t tallest = *std::max_element(all.counts.begin(), all.counts.end());
  auto share = [&](uint64_t count) {
    os << format("%7.2f%%", 100.0 * count / elements);
  };
  os << "   2^e     share  f16 as is  f16 scaled\n";
  int rest = std::ilogb(all.largest) - 72;
  uint64_t below = 0;
  for (int e = Magnitudes::most; e >= Magnitudes::least; --e) {
    uint64_t count = all.counts[e - Magnitudes::least];
    if (e <= rest)
      below += count;
    else if (count > 0) {
      os << format("%6d  ", e);
      share(count);
      std::string bar(40 * count / tallest, '#');
      os << left_justify("", 2) << left_justify(fateInHalf(e), 11)
         << left_justify(fateInHalf(e + calibration.exponent),
                         bar.empty() ? 0 : 11)
         << bar << "\n";
    }
  }
  if (below) {
    os << "  less  ";
    share(below);
    os << "  zero       zero\n";
  }
  os << "  zero  ";
  share(all.zeros);
  os << "\n";
}

static void printWorst(raw_ostream &os, const Calibration &calibration,
                       size_t most) {
  struct Row {
    const GradientStatistics *gradient;
    Magnitudes::Shares before, after;
  };
  std::vector<Row> rows;
  for (const GradientStatistics &gradient : calibration.gradients)
    rows.push_back({&gradient, gradient.magnitudes.inHalf(0),
                    gradient.magnitudes.inHalf(calibration.exponent)});
  std::stable_sort(rows.begin(), rows.end(), [](auto &one, auto &other) {
    return std::pair(one.before.zero, one.before.subnormal) >
           std::pair(other.before.zero, other.before.subnormal);
  });
  os << "       as is            scaled       largest  gradient of\n"
        "   zero  subnormal   zero  subnormal\n";
  for (const Row &row : ArrayRef(rows).take_front(most))
    os << format("%6.1f%%    %6.1f%% %6.1f%%    %6.1f%%  %8.1e  ",
                 100 * row.before.zero, 100 * row.before.subnormal,
                 100 * row.after.zero, 100 * row.after.subnormal,
                 row.gradient->magnitudes.largest)
       << row.gradient->str() << "\n";
  if (rows.size() > most)
    os << rows.size() - most << " more, which lose no more\n";
}

std::string Calibration::summary() const {
  const GradientStatistics &most = largest();
  std::string text;
  raw_string_ostream(text) << "loss scale "
                           << StringRef(scaler()).split(':').second << " (2^"
                           << exponent << ") chosen from " << batches
                           << (batches == 1 ? " batch" : " batches")
                           << ": the largest gradient, "
                           << format("%.3g", most.magnitudes.largest) << " of "
                           << most.str() << ", becomes "
                           << format("%.5g", most.magnitudes.largest * scale())
                           << ", and may grow by 2^" << headroom
                           << " before it reaches 65504";
  return text;
}

std::string toText(const Calibration &calibration, size_t most) {
  std::string text;
  raw_string_ostream os(text);
  auto mostlyZero = [&](const GradientStatistics &gradient) {
    return gradient.magnitudes.inHalf(calibration.exponent).zero > 0.5;
  };
  os << calibration.gradients.size() << " gradients that are f16 in training, "
     << calibration.batches
     << (calibration.batches == 1 ? " batch of " : " batches of ")
     << calibration.rows << " records, computed in f32\n\n";
  printHistogram(os, calibration);
  os << "\n";
  printWorst(os, calibration, most);
  os << "\n"
     << calibration.summary() << "\n"
     << "train with --scaler " << calibration.scaler()
     << ", or --scaler static:auto, which does this by itself\n";
  if (auto lost = count_if(calibration.gradients, mostlyZero))
    os << lost << (lost == 1 ? " gradient becomes" : " gradients become")
       << " zero all the same, more than half of each: --scales, with the file "
          "of --json, gives each a scale of its own\n";
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeMagnitudes(json::OStream &json, const Magnitudes &magnitudes) {
  json.attribute("zeros", magnitudes.zeros);
  json.attribute("largest", magnitudes.largest);
  json.attributeObject("exponents", [&] {
    for (auto [i, count] : enumerate(magnitudes.counts))
      if (count)
        json.attribute(std::to_string(static_cast<int>(i) + Magnitudes::least),
                       count);
  });
}

static void writeShares(json::OStream &json, StringRef name,
                        const Magnitudes::Shares &shares) {
  json.attributeObject(name, [&] {
    json.attribute("zero", shares.zero);
    json.attribute("subnormal", shares.subnormal);
    json.attribute("normal", shares.normal);
    json.attribute("infinite", shares.infinite);
  });
}

std::string toJson(const Calibration &calibration) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os, /*IndentSize=*/2);
  auto attribute = [&](StringRef key, StringRef value) {
    json.attribute(key,
                   json::isUTF8(value) ? value.str() : json::fixUTF8(value));
  };
  json.object([&] {
    attribute("module", calibration.module);
    json.attribute("batch", calibration.rows);
    json.attribute("batches", calibration.batches);
    json.attribute("headroom", calibration.headroom);
    json.attribute("scale", calibration.scale());
    json.attributeObject("all",
                         [&] { writeMagnitudes(json, calibration.all()); });
    json.attributeArray("gradients", [&] {
      for (const GradientStatistics &gradient : calibration.gradients)
        json.object([&] {
          json.attribute("loss", gradient.loss);
          json.attribute("number", gradient.number);
          json.attribute("result", gradient.result);
          attribute("of", gradient.origin);
          attribute("source", gradient.source.str());
          writeMagnitudes(json, gradient.magnitudes);
          writeShares(json, "f16", gradient.magnitudes.inHalf(0));
          writeShares(json, "f16_scaled",
                      gradient.magnitudes.inHalf(calibration.exponent));
        });
    });
  });
  os << "\n";
  return text;
}

} // namespace mp
