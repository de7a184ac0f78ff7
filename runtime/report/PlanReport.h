//===- PlanReport.h - the memory plan of a Program ------------------------===//
#ifndef MP_RUNTIME_REPORT_PLANREPORT_H
#define MP_RUNTIME_REPORT_PLANREPORT_H

#include "program/Program.h"

namespace mp {

/// The memory that a Program plans to use on its device.
struct PlanReport {
  /// One kind of memory.
  struct Line {
    std::string name; ///< "weights", "masters", "slots", ...
    std::string note; ///< a description of it
    uint64_t bytes = 0;
    uint64_t count = 0; ///< number of tensors; 0: not counted
  };
  /// The step of an entry point at which the most bytes of the arena are alive.
  struct Peak {
    std::string function; ///< the entry point with the largest arena
    uint32_t step = 0, steps = 0;
    uint64_t bytes = 0;        ///< alive at that step
    std::string summary;       ///< of the kernel of that step
    Location location;         ///< of the kernel's first op
    std::vector<Buffer> alive; ///< largest first
  };

  /// A loop over time steps of that entry point.
  struct Loop {
    std::string summary; ///< of its first kernel
    Location location;   ///< of the kernel's first op
    /// How often a target runs how many steps; 0: one kernel is the loop.
    int64_t rounds = 0;
    uint32_t steps = 0;
    /// "64 rounds of 3 steps"
    std::string form() const;
  };

  std::string module, target, arch, precision, policy = {};
  std::vector<Line> lines;
  Peak peak;
  std::vector<Loop> loops; ///< in the order of the steps

  uint64_t bytes(llvm::StringRef line) const;
  uint64_t total() const;
};

/// Returns the plan of a Program, for this number of workers on the CPU.
PlanReport reportPlan(const Program &program, unsigned threads);

/// Formats the lines and their total as a table.
std::string tableOf(const PlanReport &report);
/// Formats the report as a table, with the `most` largest values of the peak.
std::string toText(const PlanReport &report, size_t most = 10);
std::string toJson(const PlanReport &report);

/// "3.1 MiB"
std::string amountOf(uint64_t bytes);

} // namespace mp

#endif // MP_RUNTIME_REPORT_PLANREPORT_H
