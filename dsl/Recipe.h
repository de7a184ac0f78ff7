//===- Recipe.h - how a graph is trained ------------------------*- C++ -*-===//
#ifndef MANTISSA_DSL_RECIPE_H
#define MANTISSA_DSL_RECIPE_H

#include "program/Program.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

/// An optimizer with its arguments, by a function such as adamw.
struct Optimizer {
  std::string text; ///< "#mp.adamw<lr = 0.001>"
};
/// A learning-rate schedule, by a function such as cosine.
struct Schedule {
  std::string text;
};

#include "dsl/recipes.h.inc"

/// A learning rate that stays as it is after a warm-up.
Schedule constantSchedule(int64_t warmup = 0);

/// The parameters that minimise a result, and how.
struct Minimize {
  std::string result = "loss"; ///< the name of an output
  /// Shell patterns over names; one that begins with "!" takes names out.
  std::vector<std::string> params = {"*"};
  Optimizer optimizer = {};
  Schedule schedule = {};
  double clipNorm = 0, clipValue = 0; ///< 0: none
  double ema = 0;                     ///< decay of moving averages; 0: none
  std::string name = {};              ///< groups of one name share an optimizer
};

/// A recipe: mp.train. With one loss and one optimizer, `optimizer` and
/// `schedule` are enough; `groups` are for more.
struct Recipe {
  Optimizer optimizer = {};
  Schedule schedule = {};
  std::string precision = "fp32"; ///< fp32, fp16 or bf16
  std::string policy = "torch";   ///< of autocast
  std::string scaler = {};        ///< a preset; "": torch's with fp16
  int64_t accumulate = 0;         ///< micro-batches; 0: none
  double clipNorm = 0, clipValue = 0;
  std::string recompute = {};
  std::string name = "step";
  std::vector<Minimize> groups = {};
};

/// Where a column of data is found in a folder.
struct Column {
  std::string input;   ///< the name of the graph's input
  std::string pattern; ///< a shell glob
  std::string format;  ///< idx, npy, safetensors, records, images, ...
  std::string key = {};
  /// Dimension i of the file is dimension `dimsInFiles[i]` of the input, as in
  /// VariableOptions: {0, 3, 1, 2} for images with channels first.
  std::vector<int64_t> dimsInFiles = {};
  /// Of a sample in records; the height, width and channels of images; the
  /// length of tokens.
  std::vector<int64_t> shape = {};
  int64_t recordBytes = 0;     ///< of a record in records
  int64_t recordOffset = 0;    ///< where the sample begins in its record
  mp::TokenWindow window = {}; ///< of tokens
};

} // namespace mantissa

#endif // MANTISSA_DSL_RECIPE_H
