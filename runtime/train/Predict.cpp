//===- Predict.cpp - classes of pictures ----------------------------------===//
#include "runtime/train/Predict.h"
#include "program/Names.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace llvm;

namespace mp {

/// Returns the height, width and channels of the pictures that an entry takes.
static Expected<std::array<int64_t, 3>> pictureShape(const Entry &entry) {
  if (entry.inputs.size() == 1) {
    const TensorType &type = entry.inputs.front().type;
    ArrayRef<int64_t> sizes = type.shape;
    if (type.element == ElementType::U8 && sizes.size() == 3)
      return std::array<int64_t, 3>{sizes[1], sizes[2], 1};
    if (type.element == ElementType::U8 && sizes.size() == 4 &&
        (sizes[3] == 1 || sizes[3] == 3))
      return std::array<int64_t, 3>{sizes[1], sizes[2], sizes[3]};
  }
  std::vector<std::string> inputs;
  for (const Input &input : entry.inputs)
    inputs.push_back(input.name + ": " + input.type.str());
  return makeError("the network predicts from ({0}), and not from pictures: "
                   "bytes of [batch, height, width, 1 or 3]{1}",
                   join(inputs, ", "), at(entry.location));
}

static Error checkLogits(const Entry &entry) {
  if (entry.results.size() == 1 && isFloat(entry.results[0].type.element) &&
      entry.results[0].type.shape.size() == 2 &&
      entry.results[0].type.shape[0] == entry.inputs[0].type.shape[0])
    return Error::success();
  std::vector<std::string> results;
  for (const Result &result : entry.results)
    results.push_back(result.name + ": " + result.type.str());
  return makeError("the network predicts ({0}), expected logits of [batch, "
                   "classes]: name them with --output{1}",
                   join(results, ", "), at(entry.location));
}

/// Returns the most probable classes of a row of logits.
static std::vector<PicturePrediction::Class>
mostProbable(ArrayRef<double> logits, ArrayRef<std::string> names,
             size_t most) {
  double largest = *llvm::max_element(logits), sum = 0;
  for (double logit : logits)
    sum += std::exp(logit - largest);
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), size_t(0));
  llvm::stable_sort(order,
                    [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  order.resize(std::min(most, order.size()));
  std::vector<PicturePrediction::Class> classes;
  for (size_t i : order)
    classes.push_back({names.empty() ? std::to_string(i) : names[i],
                       std::exp(logits[i] - largest) / sum});
  return classes;
}

/// Returns the logits of pictures, no more than a batch, a row for each.
static Expected<std::vector<std::vector<double>>>
logitsOf(Executable &executable, PictureReader &reader,
         ArrayRef<int64_t> rows) {
  // A smaller batch is filled up with black pictures.
  const TensorType &taken = executable.entry().inputs[0].type;
  std::vector<char> input(taken.bytes());
  size_t sampleBytes = input.size() / taken.shape[0];
  Error error = reader.read(rows, [&](size_t place, const uint8_t *bytes) {
    std::copy_n(bytes, sampleBytes, input.begin() + place * sampleBytes);
  });
  if (error)
    return std::move(error);
  auto results = executable.run(TensorView(ElementType::U8, input));
  if (!results)
    return results.takeError();
  const TensorType &type = executable.entry().results[0].type;
  const char *at = (*results)[0].bytes().data();
  std::vector<std::vector<double>> logits(rows.size());
  for (std::vector<double> &row : logits)
    for (int64_t i = 0; i < type.shape[1]; ++i, at += byteWidth(type.element))
      row.push_back(loadElement(type.element, at));
  return logits;
}

Expected<std::vector<PicturePrediction>>
predictPictures(const EvalOptions &options, ArrayRef<std::string> paths,
                std::vector<std::string> names, size_t most, Compiler compiler,
                SessionFactory createSession) {
  auto trained =
      TrainedModel::open(options, std::move(compiler), createSession);
  if (!trained)
    return trained.takeError();
  int64_t batch =
      std::min<int64_t>(options.batch.value_or(kEvaluatedRows), paths.size());
  auto executable = trained->load(options, Goal::Predict, kPredictEntry, batch);
  if (!executable)
    return executable.takeError();
  const Entry &entry = (*executable)->entry();
  auto shape = pictureShape(entry);
  if (!shape)
    return shape.takeError();
  if (Error error = checkLogits(entry))
    return std::move(error);
  if (names.empty())
    names = trained->classes;
  int64_t classes = entry.results[0].type.shape[1];
  if (!names.empty() && static_cast<int64_t>(names.size()) != classes)
    return makeError(
        "there are {0} names of classes, and the network tells {1} "
        "classes apart",
        names.size(), classes);
  auto files = std::make_shared<PictureFiles>();
  for (const std::string &path : paths)
    files->files.push_back({path, 0});
  PictureReader reader(files, *shape, {.cacheBytes = 0});
  std::vector<PicturePrediction> predictions;
  for (int64_t first = 0; first < static_cast<int64_t>(paths.size());
       first += batch) {
    std::vector<int64_t> rows(std::min<int64_t>(batch, paths.size() - first));
    std::iota(rows.begin(), rows.end(), first);
    auto logits = logitsOf(**executable, reader, rows);
    if (!logits)
      return logits.takeError();
    for (auto [row, numbers] : zip_equal(rows, *logits))
      predictions.push_back({paths[row], mostProbable(numbers, names, most)});
  }
  return predictions;
}

} // namespace mp
