//===- LengthBuckets.h - samples of about one length in a batch -*- C++ -*-===//
#ifndef MP_RUNTIME_DATA_LENGTHBUCKETS_H
#define MP_RUNTIME_DATA_LENGTHBUCKETS_H

#include "runtime/data/Dataset.h"
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mp {

/// The column that says how many of a sample's tokens are no padding.
inline constexpr llvm::StringLiteral kLengthsColumn = "lengths";

struct LengthBucketOptions {
  /// The lengths of the buckets, which go up.
  std::vector<int64_t> lengths;
  int64_t batch = 1;     ///< rows of a batch
  bool dropLast = false; ///< whether to leave out the remainders of an epoch
  uint64_t seed = 0;
  bool shuffle = true; ///< false: the buckets one after the other
};

/// A bucket, its samples, and its batches in an epoch.
struct LengthBucket {
  int64_t length = 0;
  int64_t samples = 0, batches = 0;
  int64_t tokens = 0; ///< of the samples, without padding
  /// Returns how many tokens fill the samples up to the bucket's length.
  int64_t padding() const { return samples * length - tokens; }
  bool operator==(const LengthBucket &) const = default;
};

/// The batches of an epoch whose samples lie in buckets by their lengths. A
/// sample is in the first bucket that is long enough for it. Each epoch
/// shuffles the samples, cuts those of each bucket into batches, the last one
/// of which may be smaller, and shuffles the batches, all by Philox(seed,
/// epoch): nothing but the number of a step says which batch it takes. May be
/// used by several threads.
class LengthBuckets {
public:
  /// A batch is `rows` samples of the order of its epoch.
  struct Batch {
    int64_t length; ///< of its bucket
    int64_t first, rows;
    bool operator==(const Batch &) const = default;
  };

  /// `samples` holds the length of each sample, none of which is above the
  /// largest bucket.
  LengthBuckets(LengthBucketOptions options, llvm::ArrayRef<int64_t> samples);
  /// Takes the lengths from a column of the data set, which has been read. An
  /// error names the sample that is longer than the largest bucket.
  static llvm::Expected<std::shared_ptr<const LengthBuckets>>
  of(const Dataset &data, LengthBucketOptions options);

  int64_t batchesPerEpoch() const { return batches.size(); }
  Batch batch(int64_t epoch, int64_t index) const;
  /// Returns all samples in the order of an epoch, those of each bucket
  /// together.
  std::vector<int64_t> order(int64_t epoch) const;
  /// Returns the samples of a bucket, as the files have them.
  llvm::ArrayRef<int64_t> samplesOf(int64_t length) const;
  llvm::ArrayRef<LengthBucket> all() const { return buckets; }

private:
  /// The places in `batches` of an epoch's batches.
  struct Order {
    int64_t epoch = -1;
    std::vector<int64_t> places;
  };

  LengthBucketOptions options;
  std::vector<LengthBucket> buckets;
  std::vector<std::vector<int64_t>> samples; ///< of each bucket
  std::vector<size_t> bucketOf;              ///< of each sample
  std::vector<Batch> batches;                ///< bucket by bucket
  /// Those of the last even and of the last odd epoch, as batches are gathered
  /// ahead.
  mutable std::array<Order, 2> orders;
  mutable std::mutex mutex;
};

/// Fails unless the inputs of an entry point for a bucket take the columns of
/// `whole`, which is bound for the largest one, or the beginnings of their
/// samples. What follows in the bucket's `samples` has to be padding.
llvm::Error checkCut(const Dataset &data, const ColumnBinding &whole,
                     const Entry &entry, int64_t length,
                     llvm::ArrayRef<int64_t> samples);

/// Returns the lengths of buckets that a text such as "32,64,128" has. Fails
/// unless they are positive and go up.
llvm::Expected<std::vector<int64_t>> parseBuckets(llvm::StringRef text);
std::string bucketsText(llvm::ArrayRef<int64_t> lengths);

/// Returns the module of each length: `module` with the option tokens=LENGTH if
/// it is the name of a network, or else with LENGTH in the place of "{tokens}"
/// in its path. Fails if it is neither.
llvm::Expected<std::map<int64_t, std::string>>
modulesOfBuckets(llvm::StringRef module, llvm::ArrayRef<int64_t> lengths);

} // namespace mp

#endif // MP_RUNTIME_DATA_LENGTHBUCKETS_H
