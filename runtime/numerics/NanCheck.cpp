//===- NanCheck.cpp - the first value that is not finite ------------------===//
#include "runtime/numerics/NanCheck.h"
#include "runtime/Model.h"
#include "runtime/data/Convert.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace llvm;

namespace mp {

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Magnitude bits of infinity; those of NaN are larger.
static constexpr uint32_t kInfinite = 0x7f80'0000;

static std::optional<double> readFact(const Entry &entry,
                                      Executable::Results results,
                                      const Record &record, RecordFact fact) {
  int32_t at = record.result(fact);
  if (at < 0)
    return std::nullopt;
  return readScalar(entry, results, at);
}

static std::optional<uint32_t> readMagnitude(const Entry &entry,
                                             Executable::Results results,
                                             const Record &record) {
  auto bits = readFact(entry, results, record, RecordFact::Magnitude);
  return bits ? std::optional(static_cast<uint32_t>(*bits)) : std::nullopt;
}

/// Whether the record's value is not finite, by its magnitude or its count.
static bool isBroken(const Entry &entry, Executable::Results results,
                     const Record &record) {
  if (auto bits = readMagnitude(entry, results, record))
    return *bits >= kInfinite;
  return readFact(entry, results, record, RecordFact::NonFinite).value_or(0) >
         0;
}

static ValueRange readRecord(const Entry &entry, Executable::Results results,
                             const Record &record) {
  ValueRange range{.name = record.op,
                   .source = record.location,
                   .phase = record.phase,
                   .type = record.type,
                   .isFinite = !isBroken(entry, results, record)};
  if (auto bits = readMagnitude(entry, results, record)) {
    if (*bits >= kInfinite)
      range.hasNan = *bits > kInfinite;
    else
      range.magnitude = bit_cast<float>(*bits);
  }
  auto finite = [](std::optional<double> number) {
    return number && std::isfinite(*number) ? number : std::nullopt;
  };
  auto read = [&](RecordFact fact) {
    return readFact(entry, results, record, fact);
  };
  if (auto count = read(RecordFact::NonFinite))
    range.nonFinite = static_cast<uint64_t>(*count);
  range.least = finite(read(RecordFact::Least));
  range.largest = finite(read(RecordFact::Largest));
  if (auto row = read(RecordFact::Row); row && !range.isFinite)
    range.row = static_cast<int64_t>(*row);
  return range;
}

bool isOfRecord(const Entry &entry, unsigned result) {
  return any_of(entry.records, [&](const Record &record) {
    return is_contained(record.results, static_cast<int32_t>(result));
  });
}

std::vector<ValueRange> readRecords(const Entry &entry,
                                    Executable::Results results) {
  std::vector<ValueRange> values;
  for (const Record &record : entry.records)
    values.push_back(readRecord(entry, results, record));
  return values;
}

ValueRange rangeOf(const TensorType &type, ArrayRef<char> bytes) {
  ValueRange range;
  range.type = type;
  range.hasNan = false;
  range.nonFinite = 0;
  for (int64_t i = 0; i < type.elements(); ++i) {
    double x =
        loadElement(type.element, bytes.data() + i * byteWidth(type.element));
    if (std::isfinite(x)) {
      range.least = std::min(range.least.value_or(x), x);
      range.largest = std::max(range.largest.value_or(x), x);
      continue;
    }
    range.isFinite = false;
    range.hasNan = *range.hasNan || std::isnan(x);
    ++*range.nonFinite;
  }
  return range;
}

bool anyNonFinite(const Entry &entry, Executable::Results results,
                  bool applied) {
  return any_of(entry.records, [&](const Record &record) {
    return (applied || !record.guarded) && isBroken(entry, results, record);
  });
}

std::string firstBrokenState(const Entry &entry, Executable::Results results) {
  for (const Record &record : entry.records)
    if (record.watched && record.phase == "update" &&
        isBroken(entry, results, record))
      return record.op;
  return "";
}

//===----------------------------------------------------------------------===//
// The non-finite origin
//===----------------------------------------------------------------------===//

namespace {
/// Which records of a step have a value that is not finite, and which of these
/// lead to a flag or a write of the step.
struct Broken {
  Broken(const Entry &entry, ArrayRef<ValueRange> values, bool applied)
      : records(entry.records), all(records.size()), leading(records.size()) {
    for (auto [i, record] : enumerate(records))
      all[i] = !values[i].isFinite && (applied || !record.guarded);
    // An infinity that an op such as softmax turns into a zero is not leading.
    for (size_t i = records.size(); i-- > 0;)
      if (all[i] && (leading[i] || records[i].watched)) {
        leading.set(i);
        for (uint32_t operand : records[i].operands)
          if (all[operand])
            leading.set(operand);
      }
  }

  /// The first of `candidates` whose operands are finite, or at least all but
  /// those that are masks.
  std::optional<size_t> first(const BitVector &candidates) const {
    auto isMask = [&](uint32_t operand) {
      return records[operand].meant && records[operand].phase != "variable";
    };
    for (bool fromMasks : {false, true})
      for (unsigned i : candidates.set_bits())
        if (!records[i].meant && all_of(records[i].operands, [&](uint32_t one) {
              return !all[one] || (fromMasks && isMask(one));
            }))
          return i;
    return std::nullopt;
  }

  const std::vector<Record> &records;
  BitVector all, leading;
};
} // namespace

std::optional<NonFiniteOrigin> findNonFiniteOrigin(const Entry &entry,
                                                   ArrayRef<ValueRange> values,
                                                   bool applied,
                                                   bool isCertain) {
  Broken broken(entry, values, applied);
  std::optional<size_t> first = broken.first(broken.leading);
  if (!first && isCertain)
    first = broken.first(broken.all);
  if (!first)
    return std::nullopt;
  NonFiniteOrigin origin;
  origin.value = values[*first];
  for (uint32_t operand : entry.records[*first].operands)
    origin.operands.push_back(values[operand]);
  return origin;
}

} // namespace mp
