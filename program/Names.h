//===- Names.h - names of entry points and results ------------------------===//
//
// The names that the compiler gives entry points and results, by which the
// runtime looks them up.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PROGRAM_NAMES_H
#define MP_PROGRAM_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace mp {

/// Entry points. A recipe's step is `step`; with micro-batches it is
/// `accumulate`, once for each, and then `apply`.
inline constexpr llvm::StringLiteral kStepEntry = "step";
inline constexpr llvm::StringLiteral kAccumulateEntry = "accumulate";
inline constexpr llvm::StringLiteral kApplyEntry = "apply";
/// Computes derived variables from those that a checkpoint holds.
inline constexpr llvm::StringLiteral kDeriveEntry = "derive";
inline constexpr llvm::StringLiteral kEvaluateEntry = "evaluate";
/// A recipe's function forward, for some of its results.
inline constexpr llvm::StringLiteral kPredictEntry = "predict";
inline constexpr llvm::StringLiteral kDecodeEntry = "decode";
/// The entry point that computes `tokens` tokens at a time.
inline std::string decodeEntry(int64_t tokens) {
  return kDecodeEntry.str() + (tokens == 1 ? "" : "." + std::to_string(tokens));
}
/// Computes what `decode` needs of other inputs than its texts, and leaves it
/// in variables that begin so.
inline constexpr llvm::StringLiteral kEncodeEntry = "encode";
inline constexpr llvm::StringLiteral kSourceVariable = "decode.source.";
/// Variables in which `decode` keeps what loops carry from token to token.
inline constexpr llvm::StringLiteral kStateVariable = "decode.state.";
/// The argument of the position that `decode` begins at.
inline constexpr llvm::StringLiteral kPositionInput = "position";
inline constexpr llvm::StringLiteral kCalibrateEntry = "calibrate";
/// A step that changes no state and returns records of all its values.
inline constexpr llvm::StringLiteral kDiagnoseEntry = "diagnose";
inline constexpr llvm::StringLiteral kDiagnoseAccumulateEntry =
    "diagnose.accumulate";
inline constexpr llvm::StringLiteral kDiagnoseApplyEntry = "diagnose.apply";

/// Results of a step.
inline constexpr llvm::StringLiteral kLossResult = "loss";
/// The loss scale that the step used.
inline constexpr llvm::StringLiteral kScaleResult = "scale";
/// Whether an optimizer skipped its update; with several optimizers there is
/// also `skipped.<name>` for each.
inline constexpr llvm::StringLiteral kSkippedResult = "skipped";
/// Whether the scaler gives up: see `on_min` of mp.update_scale.
inline constexpr llvm::StringLiteral kExhaustedResult = "scale_exhausted";
inline constexpr llvm::StringLiteral kLearningRateResult = "lr";
inline constexpr llvm::StringLiteral kGradientNormResult = "grad_norm";

/// Values that a step returns on request: the prefixes of their names.
inline constexpr llvm::StringLiteral kGradientOutput = "grad:";
inline constexpr llvm::StringLiteral kValueOutput = "value:";

/// Variables of a step whose learning rate can be set, after the name of its
/// recipe: all learning rates are `lr`, unless this is negative, times
/// `lr_factor`. Both are f32 scalars, which no step writes.
inline constexpr llvm::StringLiteral kLearningRateVariable = ".lr";
inline constexpr llvm::StringLiteral kLearningRateFactorVariable = ".lr_factor";

/// The variable of a step of several ranks, after the name of its recipe, that
/// says whether this rank takes part only for the others: what it computes from
/// its inputs does not count.
inline constexpr llvm::StringLiteral kIdleVariable = ".idle";

} // namespace mp

#endif // MP_PROGRAM_NAMES_H
