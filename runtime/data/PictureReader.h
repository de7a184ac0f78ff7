//===- PictureReader.h - batches of pictures, decoded in parallel ---------===//
#ifndef MP_RUNTIME_DATA_PICTUREREADER_H
#define MP_RUNTIME_DATA_PICTUREREADER_H

#include "runtime/ThreadPool.h"
#include "runtime/data/PictureFiles.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <atomic>
#include <memory>
#include <mutex>

namespace mp {

/// How pictures are read.
struct PictureOptions {
  unsigned threads = 0; ///< that decode; 0: half of the cores
  /// The most bytes of decoded pictures that are kept; by default, a quarter of
  /// the machine's memory.
  std::optional<uint64_t> cacheBytes = {};
};

/// Reads and decodes the pictures of batches. The first pictures of the data
/// set are kept decoded, as many as the cache holds: each epoch needs each of
/// them once, so no other choice would be needed more often.
class PictureReader {
public:
  /// `shape`: height, width and channels of a sample.
  PictureReader(std::shared_ptr<const PictureFiles> files,
                llvm::ArrayRef<int64_t> shape, const PictureOptions &options);
  ~PictureReader();
  PictureReader(const PictureReader &) = delete;

  /// Calls `take` with the place in `rows` and the bytes of each sample, on
  /// several threads. Fails if a file cannot be read or decoded: with the error
  /// of the first such row. From any thread.
  llvm::Error
  read(llvm::ArrayRef<int64_t> rows,
       llvm::function_ref<void(size_t place, const uint8_t *bytes)> take);

  const PictureFiles &files() const { return *list; }

private:
  enum State : uint8_t { Missing, Filling, Kept };

  llvm::Error readOne(int64_t row, std::vector<uint8_t> &scratch,
                      llvm::function_ref<void(const uint8_t *)> take);
  llvm::Error decode(int64_t row, uint8_t *to) const;

  std::shared_ptr<const PictureFiles> list;
  std::array<int64_t, 3> shape;
  size_t sampleBytes;
  uint8_t *cache = nullptr; ///< of the first `states.size()` samples
  std::vector<std::atomic<State>> states;
  std::mutex mutex; ///< one batch at a time
  ThreadPool pool;
};

} // namespace mp

#endif // MP_RUNTIME_DATA_PICTUREREADER_H
