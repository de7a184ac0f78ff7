//===- ClassWeights.cpp - mp-data class-weights ---------------------------===//
#include "runtime/data/ClassWeights.h"
#include "runtime/data/Npy.h"
#include "support/Error.h"
#include "tools/data/Commands.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace mp::tool {

namespace {

struct WeightOptions {
  std::string labels, out, format = "npy";
  int64_t classes = 0;
};

void print(ArrayRef<int64_t> counts, ArrayRef<float> weights) {
  outs() << "class      labels  weight\n";
  for (size_t i = 0; i < counts.size(); ++i)
    outs() << left_justify(std::to_string(i), 5)
           << right_justify(std::to_string(counts[i]), 12) << "  "
           << format("%.6g", weights[i]) << "\n";
  auto exact = map_range(weights, [](float weight) {
    return formatv("{0}", format("%.8e", weight)).str();
  });
  outs() << "mp.constant dense<[" << join(exact, ", ") << "]> : tensor<"
         << weights.size() << "xf32>\n";
}

Error weigh(const WeightOptions &options) {
  auto labels = readArray(options.labels, options.format);
  if (!labels)
    return labels.takeError();
  auto counts = countClasses(*labels, options.classes);
  if (Error changed = labels->check()) {
    if (!counts)
      consumeError(counts.takeError());
    return changed;
  }
  if (!counts)
    return makeError("{0}: {1}", options.labels, toString(counts.takeError()));
  if (all_of(*counts, [](int64_t count) { return count == 0; }))
    return makeError("{0}: holds no labels", options.labels);
  std::vector<float> weights = balancedWeights(*counts);
  if (Error error =
          writeNpy(options.out,
                   {ElementType::F32, {static_cast<int64_t>(weights.size())}},
                   {reinterpret_cast<const char *>(weights.data()),
                    weights.size() * sizeof(float)}))
    return error;
  print(*counts, weights);
  return Error::success();
}

} // namespace

int classWeights(ArrayRef<const char *> arguments) {
  WeightOptions options;
  Command command{
      "class-weights", "LABELS --out FILE [options]",
      "Writes a weight for each class as an array of NumPy's format, and "
      "prints it: labels /\n(classes * labels of the class), as scikit-learn's "
      "\"balanced\". A class without labels\ngets 0."};
  command.positional = 1;
  command.called = "the input";
  command.options = {
      text("out", "FILE", options.out, "where the weights are written, as f32",
           Names::Output),
      choice("format", options.format, {"npy", "idx"},
             "the format of the labels (npy)"),
      number(
          "classes", [&](uint64_t n) { options.classes = int64_t(n); }, 1,
          uint64_t(1) << 24, "the number of classes (the largest label and 1)"),
  };
  auto words = command.parse(arguments);
  if (!words)
    return report(words.takeError());
  if (!*words)
    return 0;
  if (options.out.empty())
    return report(make_error<UsageError>("class-weights needs --out"));
  options.labels = (**words)[0];
  Error error = weigh(options);
  return error ? report(std::move(error)) : 0;
}

} // namespace mp::tool
