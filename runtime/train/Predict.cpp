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
      entry.results[0].type.shape.size() == 2)
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

static std::vector<double> rowOf(const TensorType &type, ArrayRef<char> bytes,
                                 int64_t row) {
  std::vector<double> numbers;
  int64_t width = byteWidth(type.element), count = type.shape[1];
  for (int64_t i = row * count; i < (row + 1) * count; ++i)
    numbers.push_back(loadElement(type.element, bytes.data() + i * width));
  return numbers;
}

Expected<std::vector<PicturePrediction>>
predictPictures(const EvalOptions &options, ArrayRef<std::string> paths,
                std::vector<std::string> names, size_t most, Compiler compiler,
                SessionFactory createSession) {
  auto trained =
      TrainedModel::open(options, std::move(compiler), createSession);
  if (!trained)
    return trained.takeError();
  int64_t batch = std::min<int64_t>(options.batch, paths.size());
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
  // The last batch is filled up with what the one before left.
  std::vector<char> input(entry.inputs[0].type.bytes());
  std::vector<PicturePrediction> predictions;
  for (int64_t first = 0; first < static_cast<int64_t>(paths.size());
       first += batch) {
    std::vector<int64_t> rows(std::min<int64_t>(batch, paths.size() - first));
    std::iota(rows.begin(), rows.end(), first);
    size_t sampleBytes = input.size() / batch;
    if (Error error = reader.read(rows, [&](size_t place,
                                            const uint8_t *bytes) {
          std::copy_n(bytes, sampleBytes, input.begin() + place * sampleBytes);
        }))
      return std::move(error);
    TensorView view(ElementType::U8, input);
    auto results = (*executable)->run(view);
    if (!results)
      return results.takeError();
    for (size_t place = 0; place < rows.size(); ++place)
      predictions.push_back(
          {paths[rows[place]], mostProbable(rowOf(entry.results[0].type,
                                                  (*results)[0].bytes(), place),
                                            names, most)});
  }
  return predictions;
}

} // namespace mp
