//===- Pick.h - a sum with one term -----------------------------*- C++ -*-===//
//
// The loss of a class is picked from a row of scores by a sum over the row, of
// the score where the column is the label and of zeros elsewhere. A nest loads
// that one element instead.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_NEST_PICK_H
#define MP_CODEGEN_CPU_NEST_PICK_H

#include "codegen/stages/StageGroup.h"

namespace mp::cpu {

struct Pick {
  mlir::Value from;   ///< a tensor that varies with the columns
  mlir::Value column; ///< integers, the same for a row; outside of it: sum 0
};

/// Matches a stage that sums `column == index ? from : 0` over the columns.
std::optional<Pick> matchPick(const StageGroup &group, const Stage &stage);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_NEST_PICK_H
