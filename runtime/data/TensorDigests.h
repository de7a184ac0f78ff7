//===- TensorDigests.h - how damage of a tensor file is found ---*- C++ -*-===//
//
// XXH3 hashes in the metadata of a safetensors file. A tensor is hashed in
// parts, since one hash is the work of one thread.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_DATA_TENSORDIGESTS_H
#define MP_RUNTIME_DATA_TENSORDIGESTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mp {

/// Metadata: the hash of the header with zeros in the place of this hash, and
/// those of the parts of each tensor in the order of their data.
inline constexpr llvm::StringLiteral kHeaderDigest = "header_digest";
inline constexpr llvm::StringLiteral kPartDigests = "part_digests";
/// What files had before: one hash for each tensor.
inline constexpr llvm::StringLiteral kTensorDigests = "tensor_digests";

inline constexpr size_t kDigestDigits = 16;
inline constexpr size_t kDigestedBytes = size_t(4) << 20; ///< of a part

/// Returns the number of parts of a tensor. An empty one has one too.
size_t countParts(size_t bytes, size_t partBytes = kDigestedBytes);

/// Returns the hashes of all parts of a tensor.
std::string digestsOf(llvm::ArrayRef<char> tensor);

/// Returns the header's hash, in which the digits of `value` count as zeros, or
/// nothing if the header does not have this value.
std::string headerDigest(llvm::StringRef header, llvm::StringRef value);

/// Compares tensors with the digests of their parts, on all cores.
class DigestCheck {
public:
  DigestCheck(llvm::StringRef digests, size_t partBytes)
      : digests(digests), partBytes(partBytes) {}

  void add(llvm::ArrayRef<char> tensor);
  /// Returns the number of the first part that differs, counted over all
  /// tensors.
  std::optional<size_t> firstDamaged() const;

private:
  bool isDamaged(size_t part) const;

  llvm::StringRef digests;
  size_t partBytes, bytes = 0;
  std::vector<llvm::ArrayRef<char>> parts;
};

} // namespace mp

#endif // MP_RUNTIME_DATA_TENSORDIGESTS_H
