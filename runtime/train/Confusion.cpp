//===- Confusion.cpp - which classes a classifier takes for which ---------===//
#include "runtime/train/Confusion.h"
#include "runtime/data/Convert.h"
#include "runtime/pictures/Picture.h"
#include "support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace mp {

/// The result that holds logits for `classes` classes, a row for each label.
static std::optional<unsigned> findLogits(const Entry &entry, int64_t rows,
                                          int64_t classes) {
  std::optional<unsigned> found;
  unsigned candidates = 0;
  for (auto [i, result] : llvm::enumerate(entry.results)) {
    if (!isFloat(result.type.element) || result.type.shape.size() != 2 ||
        result.type.shape[0] != rows || result.type.shape[1] != classes)
      continue;
    if (result.name == "logits")
      return i;
    found = i;
    ++candidates;
  }
  return candidates == 1 ? found : std::nullopt;
}

std::optional<Confusion> Confusion::of(const Entry &entry) {
  Confusion confusion;
  for (auto [i, input] : llvm::enumerate(entry.inputs)) {
    const TensorType &type = input.type;
    if (!isFloat(type.element) && type.shape.size() == 1 && input.range &&
        input.range->first == 0) {
      confusion.classes = input.range->second;
      confusion.labels = i;
      confusion.labelElement = type.element;
    }
    ArrayRef<int64_t> shape = type.shape;
    bool isImage = type.element == ElementType::U8 &&
                   (shape.size() == 3 ||
                    (shape.size() == 4 && (shape[3] == 1 || shape[3] == 3)));
    if (!isImage || shape[1] > 512 || shape[2] > 512)
      continue;
    confusion.images = i;
    confusion.height = shape[1];
    confusion.width = shape[2];
    confusion.channels = shape.size() == 4 ? shape[3] : 1;
  }
  if (confusion.classes < 2)
    return std::nullopt;
  int64_t rows = entry.inputs[confusion.labels].type.shape[0];
  auto logits = findLogits(entry, rows, confusion.classes);
  if (!logits)
    return std::nullopt;
  confusion.logits = *logits;
  confusion.logitElement = entry.results[*logits].type.element;
  return confusion;
}

void Confusion::add(Executable::Inputs inputs, Executable::Results results,
                    ArrayRef<int64_t> samples) {
  const char *label = inputs[labels].bytes().data();
  const char *logit = results[logits].bytes().data();
  std::vector<double> row(classes);
  for (size_t i = 0; i < samples.size();
       ++i, label += byteWidth(labelElement)) {
    for (double &each : row) {
      each = loadElement(logitElement, logit);
      logit += byteWidth(logitElement);
    }
    auto own = static_cast<int64_t>(loadElement(labelElement, label));
    if (own < 0 || own >= classes)
      continue;
    auto largest = llvm::max_element(row);
    int64_t predicted = largest - row.begin();
    ++counts[{own, predicted}];
    if (predicted == own)
      continue;
    double sum = 0;
    for (double each : row)
      sum += std::exp(each - *largest);
    uint64_t size = height * width * channels;
    addMistake({samples[i], own, predicted, 1 / sum, ""},
               images ? inputs[*images].bytes().data() + i * size : nullptr);
  }
}

void Confusion::addMistake(Mistake mistake, const char *image) {
  // A row with a NaN has no probability.
  if (!(mistake.probability > 0))
    mistake.probability = 0;
  auto place = llvm::partition_point(mistakes, [&](const Mistake &other) {
    return other.probability >= mistake.probability;
  });
  if (place - mistakes.begin() == mostMistakes)
    return;
  if (image)
    mistake.png = encodePng({reinterpret_cast<const uint8_t *>(image),
                             static_cast<size_t>(height * width * channels)},
                            height, width, channels);
  mistakes.insert(place, std::move(mistake));
  if (mistakes.size() > mostMistakes)
    mistakes.pop_back();
}

template <typename T> static void put(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
}
template <typename T> static T take(StringRef &bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes = bytes.drop_front(sizeof(value));
  return value;
}

std::string Confusion::bytes() const {
  std::string bytes;
  put<uint64_t>(bytes, counts.size());
  for (auto [pair, count] : counts) {
    put(bytes, pair.first);
    put(bytes, pair.second);
    put(bytes, count);
  }
  put<uint64_t>(bytes, mistakes.size());
  for (const Mistake &mistake : mistakes) {
    put(bytes, mistake.sample);
    put(bytes, mistake.label);
    put(bytes, mistake.predicted);
    put(bytes, mistake.probability);
    put<uint64_t>(bytes, mistake.png.size());
    bytes += mistake.png;
  }
  return bytes;
}

void Confusion::merge(StringRef bytes) {
  for (auto left = take<uint64_t>(bytes); left > 0; --left) {
    auto label = take<int64_t>(bytes), predicted = take<int64_t>(bytes);
    counts[{label, predicted}] += take<uint64_t>(bytes);
  }
  for (auto left = take<uint64_t>(bytes); left > 0; --left) {
    Mistake mistake{take<int64_t>(bytes), take<int64_t>(bytes),
                    take<int64_t>(bytes), take<double>(bytes), ""};
    auto size = take<uint64_t>(bytes);
    mistake.png = bytes.take_front(size).str();
    bytes = bytes.drop_front(size);
    addMistake(std::move(mistake), nullptr);
  }
}

double Confusion::macroF1() const {
  std::vector<uint64_t> labelled(classes), predicted(classes), right(classes);
  for (auto [pair, count] : counts) {
    labelled[pair.first] += count;
    predicted[pair.second] += count;
    if (pair.first == pair.second)
      right[pair.first] = count;
  }
  double sum = 0;
  int64_t occurring = 0;
  for (int64_t each = 0; each < classes; ++each) {
    // 2 TP + FP + FN.
    uint64_t divisor = labelled[each] + predicted[each];
    if (divisor == 0)
      continue;
    sum += 2.0 * right[each] / divisor;
    ++occurring;
  }
  return occurring ? sum / occurring : NAN;
}

std::string Confusion::json(int64_t step, ArrayRef<std::string> names) const {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  json.object([&] {
    json.attribute("step", step);
    json.attributeArray("classes", [&] {
      for (const std::string &name : names)
        json.value(validUtf8(name));
    });
    auto count = [&](int64_t label, int64_t predicted) -> uint64_t {
      auto found = counts.find({label, predicted});
      return found == counts.end() ? 0 : found->second;
    };
    if (classes <= mostCounted) {
      json.attributeArray("counts", [&] {
        for (int64_t label = 0; label < classes; ++label)
          json.array([&] {
            for (int64_t other = 0; other < classes; ++other)
              json.value(count(label, other));
          });
      });
    } else {
      std::vector<std::array<int64_t, 3>> pairs;
      for (auto [pair, number] : counts)
        if (pair.first != pair.second)
          pairs.push_back(
              {pair.first, pair.second, static_cast<int64_t>(number)});
      llvm::sort(pairs, [](const auto &a, const auto &b) {
        return std::tuple(b[2], a) < std::tuple(a[2], b);
      });
      pairs.resize(std::min<size_t>(pairs.size(), mostCounted));
      json.attributeArray("confused", [&] {
        for (const auto &pair : pairs)
          json.array([&] {
            for (int64_t each : pair)
              json.value(each);
          });
      });
    }
    json.attributeArray("mistakes", [&] {
      for (const Mistake &mistake : mistakes)
        json.object([&] {
          json.attribute("sample", mistake.sample);
          json.attribute("label", mistake.label);
          json.attribute("predicted", mistake.predicted);
          json.attribute("probability", mistake.probability);
          if (!mistake.png.empty())
            json.attribute("png", encodeBase64(mistake.png));
        });
    });
  });
  os << "\n";
  return text;
}

} // namespace mp
