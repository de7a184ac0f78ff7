//===- TensorDigests.cpp - how damage of a tensor file is found -----------===//
#include "runtime/data/TensorDigests.h"
#include "runtime/ThreadPool.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <atomic>

using namespace llvm;

namespace mp {

static std::string digestOf(ArrayRef<char> bytes) {
  uint64_t hash = xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  return formatv("{0:x-16}", hash);
}

static ArrayRef<char> partOf(ArrayRef<char> tensor, size_t part,
                             size_t partBytes) {
  return tensor.drop_front(part * partBytes).take_front(partBytes);
}

size_t countParts(size_t bytes, size_t partBytes) {
  return std::max(size_t(1), size_t(divideCeil(bytes, partBytes)));
}

std::string digestsOf(ArrayRef<char> tensor) {
  std::string digests;
  for (size_t part = 0; part < countParts(tensor.size()); ++part)
    digests += digestOf(partOf(tensor, part, kDigestedBytes));
  return digests;
}

std::string headerDigest(StringRef header, StringRef value) {
  std::string entry = formatv("\"{0}\":\"{1}\"", kHeaderDigest, value);
  size_t place = header.find(entry);
  if (place == StringRef::npos || value.size() != kDigestDigits)
    return "";
  std::string cleared = header.str();
  cleared.replace(place + entry.size() - 1 - kDigestDigits, kDigestDigits,
                  kDigestDigits, '0');
  return digestOf(cleared);
}

void DigestCheck::add(ArrayRef<char> tensor) {
  for (size_t part = 0; part < countParts(tensor.size(), partBytes); ++part)
    parts.push_back(partOf(tensor, part, partBytes));
  bytes += tensor.size();
}

bool DigestCheck::isDamaged(size_t part) const {
  return digestOf(parts[part]) !=
         digests.substr(part * kDigestDigits, kDigestDigits);
}

std::optional<size_t> DigestCheck::firstDamaged() const {
  std::atomic<size_t> first = parts.size();
  auto compare = [&](size_t part, unsigned) {
    if (!isDamaged(part))
      return;
    size_t known = first;
    while (part < known && !first.compare_exchange_weak(known, part)) {
    }
  };
  // Starting a thread takes as long as hashing about a megabyte.
  ThreadPool pool(bytes > kDigestedBytes ? 0 : 1);
  pool.run(parts.size(), compare);
  if (first == parts.size())
    return std::nullopt;
  return first.load();
}

} // namespace mp
