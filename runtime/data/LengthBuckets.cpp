//===- LengthBuckets.cpp - samples of about one length in a batch ---------===//
#include "runtime/data/LengthBuckets.h"
#include "program/Limits.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Shuffle.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp {

LengthBuckets::LengthBuckets(LengthBucketOptions given, ArrayRef<int64_t> of)
    : options(std::move(given)), samples(options.lengths.size()) {
  std::vector<int64_t> tokens(options.lengths.size());
  for (auto [sample, length] : enumerate(of)) {
    size_t bucket =
        lower_bound(options.lengths, length) - options.lengths.begin();
    samples[bucket].push_back(sample);
    bucketOf.push_back(bucket);
    tokens[bucket] += length;
  }
  int64_t begin = 0;
  for (auto [i, length] : enumerate(options.lengths)) {
    auto count = static_cast<int64_t>(samples[i].size());
    LengthBucket &bucket = buckets.emplace_back();
    bucket = {.length = length, .samples = count, .tokens = tokens[i]};
    int64_t taken = options.dropLast ? count - count % options.batch : count;
    for (int64_t at = 0; at < taken; at += options.batch, ++bucket.batches)
      batches.push_back(
          {length, begin + at, std::min(options.batch, taken - at)});
    begin += count;
  }
}

Expected<std::shared_ptr<const LengthBuckets>>
LengthBuckets::of(const Dataset &data, LengthBucketOptions options) {
  const Column *column = data.column(kLengthsColumn);
  if (!column)
    return makeError("{0} has no column '{1}' with the length of each sample, "
                     "by which buckets are chosen",
                     data.str(), kLengthsColumn);
  const TensorType &type = column->type;
  if (isFloat(type.element) || type.shape.size() != 1)
    return makeError("{0}: holds {1}, buckets are chosen by a whole number for "
                     "each sample, its length{2}",
                     column->path, type.str(), at(column->binding.location));
  std::vector<int64_t> lengths;
  int64_t largest = options.lengths.back();
  for (int64_t sample = 0; sample < data.samples(); ++sample) {
    int64_t length = loadInteger(type.element, column->find(sample));
    if (length < 0 || length > largest)
      return makeError("{0}: sample {1} has a length of {2}, and the largest "
                       "bucket takes {3}{4}{5}",
                       column->path, sample, length, largest,
                       length < 0 ? "" : ": add a longer one",
                       at(column->binding.location));
    lengths.push_back(length);
  }
  if (Error error = column->array.check())
    return error;
  return std::make_shared<const LengthBuckets>(std::move(options), lengths);
}

/// The first of `samples` that is more than repetitions of its last position
/// after the first `length` positions.
static std::optional<int64_t> firstTooLong(const Column &column, int64_t length,
                                           ArrayRef<int64_t> samples) {
  uint64_t positions = column.sample().shape.front();
  uint64_t bytes = column.recordBytes / positions;
  // An order of dimensions may keep no position together.
  std::vector<char> reordered(column.recordBytes);
  for (int64_t sample : samples) {
    const char *from = column.find(sample);
    if (column.reorder) {
      (*column.reorder)(from, reordered.data());
      from = reordered.data();
    }
    StringRef rest(from + length * bytes, (positions - length) * bytes);
    // Each position is the one before.
    if (rest.drop_front(bytes) != rest.drop_back(bytes))
      return sample;
  }
  return std::nullopt;
}

Error checkCut(const Dataset &data, const ColumnBinding &whole,
               const Entry &entry, int64_t length, ArrayRef<int64_t> samples) {
  Expected<ColumnBinding> cut = data.match(entry, length);
  if (!cut)
    return cut.takeError();
  auto isSame = [](const BoundColumn &one, const BoundColumn &other) {
    return one.column == other.column;
  };
  if (!llvm::equal(whole, *cut, isSame))
    return makeError("the network of bucket {0} takes other arguments than "
                     "that of the largest one{1}",
                     length, at(entry.location));
  bool isLong = false;
  for (const BoundColumn &bound : *cut) {
    ArrayRef<int64_t> shape = bound.input.type.shape;
    isLong |= shape.size() > 1 && shape[1] == length;
    const Column &column = data.columns()[bound.column];
    if (column.pictures ||
        bound.input.type.bytes() / shape.front() >= column.recordBytes)
      continue;
    if (auto sample = firstTooLong(column, length, samples))
      return makeError("{0}: sample {1} is longer than its bucket: after its "
                       "first {2} tokens there is more than padding, which is "
                       "one value that is repeated; its length in column "
                       "'{3}' is too small for it{4}",
                       column.path, *sample, length, kLengthsColumn,
                       at(column.binding.location));
  }
  if (!isLong)
    return makeError("the network of bucket {0} has no argument of so many "
                     "tokens{1}",
                     length, at(entry.location));
  return Error::success();
}

LengthBuckets::Batch LengthBuckets::batch(int64_t epoch, int64_t index) const {
  if (!options.shuffle)
    return batches[index];
  std::lock_guard lock(mutex);
  Order &order = orders[epoch % 2];
  if (order.epoch != epoch) {
    order.epoch = epoch;
    order.places = shuffledBatches(options.seed, epoch, batches.size());
  }
  return batches[order.places[index]];
}

std::vector<int64_t> LengthBuckets::order(int64_t epoch) const {
  std::vector<std::vector<int64_t>> each(samples.size());
  for (int64_t sample :
       orderOfEpoch(options.seed, epoch, bucketOf.size(), options.shuffle))
    each[bucketOf[sample]].push_back(sample);
  std::vector<int64_t> order;
  for (const std::vector<int64_t> &bucket : each)
    append_range(order, bucket);
  return order;
}

ArrayRef<int64_t> LengthBuckets::samplesOf(int64_t length) const {
  return samples[find(options.lengths, length) - options.lengths.begin()];
}

Expected<std::vector<int64_t>> parseBuckets(StringRef text) {
  std::vector<int64_t> lengths;
  SmallVector<StringRef> words;
  text.split(words, ',');
  for (StringRef word : words) {
    int64_t length;
    if (word.trim().getAsInteger(10, length) || length < 1 ||
        length > kMostCount)
      return makeError("'{0}' is not the length of a bucket, a whole number "
                       "from 1 to {1}: write them as 32,64,128",
                       word, kMostCount);
    if (!lengths.empty() && length <= lengths.back())
      return makeError("{0} follows {1}, but the lengths of buckets go up: "
                       "write them as 32,64,128",
                       length, lengths.back());
    lengths.push_back(length);
  }
  return lengths;
}

std::string bucketsText(ArrayRef<int64_t> lengths) {
  return llvm::join(
      map_range(lengths, [](int64_t length) { return std::to_string(length); }),
      ",");
}

/// "zoo:bert-tiny,tokens=32" of "zoo:bert-tiny,tokens=128".
static std::string withTokens(StringRef module, int64_t length) {
  std::string option = "tokens=" + std::to_string(length);
  bool isNew = true;
  std::vector<std::string> words;
  for (StringRef word : llvm::split(module, ',')) {
    bool isTokens = word.starts_with("tokens=");
    words.push_back(isTokens ? option : word.str());
    isNew &= !isTokens;
  }
  return llvm::join(words, ",") + (isNew ? "," + option : "");
}

Expected<std::map<int64_t, std::string>>
modulesOfBuckets(StringRef module, ArrayRef<int64_t> lengths) {
  constexpr StringLiteral place = "{tokens}";
  bool isPath = module.contains(place);
  if (!isPath && !isNamedModule(module))
    return makeError("{0}: has one length, and each bucket needs a module of "
                     "its own: name a network, zoo:NAME, or one file for each "
                     "length by the place of its length, net-{1}.mlir",
                     module, place);
  std::map<int64_t, std::string> modules;
  for (int64_t length : lengths) {
    if (!isPath) {
      modules[length] = withTokens(module, length);
      continue;
    }
    SmallVector<StringRef> parts;
    module.split(parts, place);
    modules[length] = llvm::join(parts, std::to_string(length));
  }
  return modules;
}

} // namespace mp
