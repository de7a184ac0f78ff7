//===- Timeline.cpp - numbers over any count of steps ---------------------===//
#include "runtime/report/Timeline.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace mp {

void Spread::add(double value) {
  if (!std::isfinite(value)) {
    ++notFinite;
    return;
  }
  least = std::min(least, value);
  most = std::max(most, value);
  last = value;
  sum += value;
  ++finite;
}

void Spread::add(const Spread &later) {
  least = std::min(least, later.least);
  most = std::max(most, later.most);
  if (later.finite)
    last = later.last;
  sum += later.sum;
  finite += later.finite;
  notFinite += later.notFinite;
}

double Spread::mean() const {
  if (!finite)
    return NAN;
  // Rounding of the sum may put the mean slightly outside.
  return std::clamp(static_cast<double>(sum / finite), least, most);
}

void Timeline::Stretch::add(const Stretch &later) {
  if (!later.steps)
    return;
  if (!steps)
    first = later.first;
  last = later.last;
  steps += later.steps;
  skipped += later.skipped;
  if (series.size() < later.series.size())
    series.resize(later.series.size());
  for (auto [own, other] : llvm::zip(series, later.series))
    own.add(other);
}

void Timeline::halve() {
  for (size_t i = 0; i < parts.size(); ++i)
    if (i % 2)
      parts[i / 2].add(parts[i]);
    else if (i)
      parts[i / 2] = std::move(parts[i]);
  parts.resize((parts.size() + 1) / 2);
  perStretch *= 2;
}

void Timeline::add(int64_t step, bool skipped,
                   ArrayRef<std::pair<std::string, double>> values) {
  Stretch own{step, step, 1, skipped, {}};
  for (auto &[name, value] : values) {
    size_t index = llvm::find(seriesNames, name) - seriesNames.begin();
    if (index >= maxSeries)
      continue;
    if (index == seriesNames.size())
      seriesNames.push_back(name);
    if (own.series.size() <= index)
      own.series.resize(index + 1);
    own.series[index].add(value);
  }
  whole.add(own);
  // Keeps the width below the limit of int64_t, which no run comes near.
  constexpr int64_t widest = int64_t(1) << 62;
  auto index = [&] { return (step - whole.first) / perStretch; };
  while (index() >= static_cast<int64_t>(most) && perStretch < widest)
    halve();
  if (static_cast<size_t>(index()) >= parts.size())
    parts.resize(index() + 1);
  parts[index()].add(own);
}

Timeline Timeline::reduced(size_t columns) const {
  Timeline copy = *this;
  while (copy.parts.size() > columns)
    copy.halve();
  return copy;
}

std::vector<const Timeline::Stretch *> Timeline::stretches() const {
  std::vector<const Stretch *> present;
  for (const Stretch &stretch : parts)
    if (stretch.steps)
      present.push_back(&stretch);
  return present;
}

Spread Timeline::spread(const Stretch &stretch, StringRef name) const {
  size_t index = llvm::find(seriesNames, name) - seriesNames.begin();
  return index < stretch.series.size() ? stretch.series[index] : Spread();
}

} // namespace mp
