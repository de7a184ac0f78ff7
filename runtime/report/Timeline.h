//===- Timeline.h - numbers over any count of steps -------------*- C++ -*-===//
//
// A picture has a thousand columns, but a run may have a million steps. Steps
// are merged as they come into stretches of equal length, so that memory and
// picture stay small. Each stretch keeps its extremes, and counts what a mean
// would hide.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_REPORT_TIMELINE_H
#define MP_RUNTIME_REPORT_TIMELINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace mp {

/// The numbers of one series in a stretch of steps.
struct Spread {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double last = 0; ///< last finite value
  uint64_t finite = 0, notFinite = 0;

  void add(double value);
  void add(const Spread &later);
  double mean() const;

private:
  long double sum = 0; // its range exceeds a double's
};

class Timeline {
public:
  struct Stretch {
    int64_t first = 0, last = 0; ///< steps that were seen
    uint64_t steps = 0, skipped = 0;
    std::vector<Spread>
        series; ///< of the first names; later ones have no values here
    void add(const Stretch &later);
  };

  explicit Timeline(size_t most = 1024) : most(most) {}

  /// Steps come in ascending order. A series may begin at any step; those past
  /// the first `maxSeries` are left out.
  void add(int64_t step, bool skipped,
           llvm::ArrayRef<std::pair<std::string, double>> values);

  /// The same timeline in at most `columns` stretches.
  Timeline reduced(size_t columns) const;

  /// The stretches that have steps, in order; at most `most`.
  std::vector<const Stretch *> stretches() const;
  /// The stretch of all steps.
  const Stretch &total() const { return whole; }
  int64_t width() const { return perStretch; }
  const std::vector<std::string> &names() const { return seriesNames; }
  /// The numbers of a series in a stretch; empty if the series is missing.
  Spread spread(const Stretch &stretch, llvm::StringRef name) const;

  static constexpr size_t maxSeries = 24;

private:
  void halve();

  size_t most;
  int64_t perStretch = 1;
  std::vector<Stretch> parts;
  Stretch whole;
  std::vector<std::string> seriesNames;
};

} // namespace mp

#endif // MP_RUNTIME_REPORT_TIMELINE_H
