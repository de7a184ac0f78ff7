//===- TuneJobs.h - what mp-run tune measures -----------------------------===//
#ifndef MP_TOOLS_RUN_TUNEJOBS_H
#define MP_TOOLS_RUN_TUNEJOBS_H

#include "codegen/cuda/contraction/TunePlan.h"
#include "support/Json.h"

namespace mp::tool {

/// A product or a convolution to measure, and its name in the list.
struct TuneJob {
  std::string name;
  cuda::TunedShape shape;
};

/// Reads a JSON list of products, {name, m, n, k, transpose_a, transpose_b,
/// type}, and convolutions, {name, kind, input, weight, strides, low, high,
/// dilations, type}, where input is [images, height, width, channels] and
/// weight [channels of the output, height, width, channels of a group]. Errors
/// name the file and what is wrong.
llvm::Expected<std::vector<TuneJob>> readTuneJobs(llvm::StringRef path);

/// The same fields, without the name.
llvm::json::Object fieldsOf(const cuda::TunedShape &shape);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_TUNEJOBS_H
