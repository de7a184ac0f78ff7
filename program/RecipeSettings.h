//===- RecipeSettings.h - settings that override a recipe -----------------===//
//
// Every setting that travels from a command line or an API call to a pass is
// declared here, once. Options of the tools and of pass pipelines, metadata of
// checkpoints and the rules of resuming are made from `forEachSetting`.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PROGRAM_RECIPESETTINGS_H
#define MP_PROGRAM_RECIPESETTINGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mp {

/// The settings by which a run overrides its recipe. A setting with its default
/// here leaves the choice to the recipe.
struct RecipeSettings {
  std::string precision; ///< a name that resolvePrecision takes: "fp16", "half"
  /// Autocast's policy: a preset, a JSON file, "@" and an mp.policy of the
  /// module, or jmp's types.
  std::string policy;
  std::string scaler; ///< preset of the loss scaler, or "none"
  std::string scales; ///< file of a calibration: a scale for each gradient
  /// Fields of the recipe and their values, separated by ";":
  /// "optimizer.lr=0.05;scaler.growth_interval=500". The pass
  /// mp-override-recipe defines them.
  std::string set;
  int64_t accumulate = 0; ///< micro-batches of a step; 1: none
  double clipNorm = 0;    ///< largest norm of all gradients; infinite: any
  double clipValue = 0;   ///< largest element of a gradient; infinite: any
  /// The type in which ranks exchange gradients: "f16" or "bf16"; empty: f32.
  std::string wire;
  /// The rows over which batch norms of several ranks take their statistics:
  /// "all"; empty: those of each rank.
  std::string batchNorm;
  /// The values that backward computes again: "marked", "all" or a size of
  /// memory such as "64MiB". The bits are the same.
  std::string recompute;
  /// The parts in which a classifier and its loss take the rows of a batch, one
  /// after the other: "auto" or a number of them; empty: all rows at once.
  std::string lossChunks;
  /// The values whose size a step records, Entry::records: "step", those that
  /// kernels store; "all", every op's.
  std::string nanCheck;

  RecipeSettings &settings() { return *this; }
  const RecipeSettings &settings() const { return *this; }
};

/// How a setting behaves when a run is resumed.
enum class OnResume {
  MustAgree, ///< must equal the checkpoint's: the bits depend on it
  MayChange, ///< may differ; by default the checkpoint's
  NotSaved,  ///< the bits do not depend on it
};

/// Whether a setting changes how a graph computes, for any use, or a training
/// step alone.
enum class SettingScope { Graph, Step };

/// The text that a setting takes beyond its type. The option of a List may be
/// given several times, for entries that ";" separates.
enum class SettingText { Any, File, Precision, Policy, Scaler, Choice, List };

/// The facts about a setting that hold everywhere.
struct SettingInfo {
  llvm::StringLiteral name;  ///< of its option, without dashes: "clip-value"
  llvm::StringLiteral value; ///< the placeholder of its value in a help text
  OnResume onResume;
  llvm::StringLiteral help;
  SettingScope scope = SettingScope::Step;
  SettingText text = SettingText::Any;
  /// The words that a Choice takes; the first one leaves the setting empty.
  llvm::ArrayRef<llvm::StringLiteral> choices = {};
};

/// Calls `visit(const SettingInfo &, T RecipeSettings::*)` for each field.
template <typename Visitor> void forEachSetting(Visitor &&visit) {
  static constexpr llvm::StringLiteral nanChecks[] = {"off", "step", "all"};
  static constexpr llvm::StringLiteral rowsOfNorms[] = {"rank", "all"};
  static constexpr llvm::StringLiteral wires[] = {"f32", "f16", "bf16"};
  visit(SettingInfo{.name = "precision",
                    .value = "NAME",
                    .onResume = OnResume::MustAgree,
                    .help =
                        "fp32, tf32, fp16, bf16, fp8 or another name of one, "
                        "as PyTorch, Lightning, Keras and Apex have them (the "
                        "checkpoint's, else the recipe's, else fp32)",
                    .scope = SettingScope::Graph,
                    .text = SettingText::Precision},
        &RecipeSettings::precision);
  visit(SettingInfo{.name = "policy",
                    .value = "NAME",
                    .onResume = OnResume::MustAgree,
                    .help =
                        "autocast policy: a preset ('mp-run policies' lists "
                        "them), a JSON file, an mp.policy of the module "
                        "(@mine), or jmp's types (the checkpoint's, else the "
                        "recipe's)",
                    .scope = SettingScope::Graph,
                    .text = SettingText::Policy},
        &RecipeSettings::policy);
  visit(SettingInfo{.name = "scaler",
                    .value = "NAME",
                    .onResume = OnResume::MayChange,
                    .help =
                        "loss scaler: torch, apex, apex-hysteresis, keras, "
                        "keras2, deepspeed, deepspeed-consecutive, megatron, "
                        "fairseq, jmp, static:N, static:auto or none (the "
                        "checkpoint's, else the recipe's)",
                    .text = SettingText::Scaler},
        &RecipeSettings::scaler);
  visit(SettingInfo{.name = "scales",
                    .value = "FILE",
                    .onResume = OnResume::MustAgree,
                    .help = "give each f16 gradient a power of two of its own, "
                            "from what 'mp-run calibrate --json' wrote (the "
                            "checkpoint's, else none)",
                    .text = SettingText::File},
        &RecipeSettings::scales);
  visit(SettingInfo{.name = "set",
                    .value = "FIELD=VALUE",
                    .onResume = OnResume::MayChange,
                    .help =
                        "another value for a field of the recipe, such as "
                        "optimizer.lr=0.05, schedule.steps=1000, minimize.ema="
                        "0.999 or scaler.growth_interval=500; may be repeated "
                        "(the checkpoint's, else the recipe's)",
                    .scope = SettingScope::Graph,
                    .text = SettingText::List},
        &RecipeSettings::set);
  visit(SettingInfo{.name = "accumulate",
                    .value = "N",
                    .onResume = OnResume::MustAgree,
                    .help = "micro-batches a step, which is as one of N times "
                            "--batch samples (the recipe's)"},
        &RecipeSettings::accumulate);
  visit(SettingInfo{.name = "clip-norm",
                    .value = "X",
                    .onResume = OnResume::MustAgree,
                    .help =
                        "largest norm of all gradients (the recipe's); inf: "
                        "any"},
        &RecipeSettings::clipNorm);
  visit(SettingInfo{.name = "clip-value",
                    .value = "X",
                    .onResume = OnResume::MustAgree,
                    .help =
                        "largest element of a gradient (the recipe's); inf: "
                        "any"},
        &RecipeSettings::clipValue);
  visit(SettingInfo{.name = "wire",
                    .value = "f32|f16|bf16",
                    .onResume = OnResume::MustAgree,
                    .help = "type in which ranks exchange gradients, which are "
                            "scaled then (f32)",
                    .text = SettingText::Choice,
                    .choices = wires},
        &RecipeSettings::wire);
  visit(SettingInfo{.name = "batch-norm",
                    .value = "rank|all",
                    .onResume = OnResume::MustAgree,
                    .help = "whether batch norms take mean and variance over "
                            "each rank's rows or over those of all (rank)",
                    .text = SettingText::Choice,
                    .choices = rowsOfNorms},
        &RecipeSettings::batchNorm);
  visit(SettingInfo{.name = "recompute",
                    .value = "KEEP",
                    .onResume = OnResume::NotSaved,
                    .help =
                        "what is kept for backward, which computes the rest "
                        "again: marked, all or a size such as 64MiB (the "
                        "recipe's)"},
        &RecipeSettings::recompute);
  visit(SettingInfo{.name = "loss-chunks",
                    .value = "N|auto",
                    .onResume = OnResume::MustAgree,
                    .help =
                        "parts in which a classifier and its cross-entropy "
                        "take the rows of a batch, so that the logits of one "
                        "part exist at a time (1)"},
        &RecipeSettings::lossChunks);
  visit(SettingInfo{.name = "nan-check",
                    .value = "off|step|all",
                    .onResume = OnResume::NotSaved,
                    .help =
                        "name the first op whose result is not finite: step, "
                        "in a report of the step, for hardly any time; all, "
                        "with a table of every op's values; a recipe that is "
                        "not scaled then ends there (off)",
                    .text = SettingText::Choice,
                    .choices = nanChecks},
        &RecipeSettings::nanCheck);
}

} // namespace mp

#endif // MP_PROGRAM_RECIPESETTINGS_H
