//===- PictureReader.cpp - batches of pictures, decoded in parallel -------===//
#include "runtime/data/PictureReader.h"
#include "runtime/data/Array.h"
#include "runtime/pictures/Picture.h"
#include "support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace mp {

static unsigned decodingThreads(unsigned asked) {
  return asked ? asked : std::max(1u, ThreadPool::cores() / 2);
}

static uint64_t quarterOfMemory() {
  return uint64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 4;
}

PictureReader::PictureReader(std::shared_ptr<const PictureFiles> files,
                             ArrayRef<int64_t> shape,
                             const PictureOptions &options)
    : list(std::move(files)), shape{shape[0], shape[1], shape[2]},
      sampleBytes(shape[0] * shape[1] * shape[2]),
      pool(decodingThreads(options.threads)) {
  uint64_t most = options.cacheBytes.value_or(quarterOfMemory()) / sampleBytes;
  size_t kept = std::min<uint64_t>(list->files.size(), most);
  if (!kept)
    return;
  // Memory is taken when a picture is written to it. Without any, pictures are
  // decoded each time.
  void *memory = mmap(nullptr, kept * sampleBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1,
                      /*offset=*/0);
  if (memory == MAP_FAILED)
    return;
  cache = static_cast<uint8_t *>(memory);
  states = std::vector<std::atomic<State>>(kept);
}

PictureReader::~PictureReader() {
  if (cache)
    munmap(cache, states.size() * sampleBytes);
}

Error PictureReader::decode(int64_t row, uint8_t *to) const {
  std::string path = list->path(row);
  // No picture of kMostPixels takes more, at 16 bits and four channels.
  constexpr uint64_t kMostBytes = 9 * kMostPixels;
  uint64_t bytes = 0;
  if (!sys::fs::file_size(path, bytes) && bytes > kMostBytes)
    return makeError("{0}: has {1} bytes, which is no picture", path, bytes);
  auto content = readFile(path);
  if (!content)
    return content.takeError();
  Expected<Picture> picture = decodePicture((*content)->getBuffer(), path);
  if (!picture)
    return picture.takeError();
  fitPicture(*picture, shape[0], shape[1], shape[2], to);
  return Error::success();
}

Error PictureReader::readOne(int64_t row, std::vector<uint8_t> &scratch,
                             function_ref<void(const uint8_t *)> take) {
  bool fits = static_cast<size_t>(row) < states.size();
  uint8_t *kept = fits ? cache + row * sampleBytes : nullptr;
  if (fits && states[row].load(std::memory_order_acquire) == Kept) {
    take(kept);
    return Error::success();
  }
  State expected = Missing;
  // If a batch has a row twice, the second thread decodes it for itself.
  bool fills = fits && states[row].compare_exchange_strong(expected, Filling);
  if (!fills)
    scratch.resize(sampleBytes);
  uint8_t *to = fills ? kept : scratch.data();
  Error error = decode(row, to);
  if (fills)
    states[row].store(error ? Missing : Kept, std::memory_order_release);
  if (!error)
    take(to);
  return error;
}

Error PictureReader::read(
    ArrayRef<int64_t> rows,
    function_ref<void(size_t place, const uint8_t *bytes)> take) {
  std::lock_guard lock(mutex);
  std::vector<std::vector<uint8_t>> scratch(pool.threads());
  std::mutex failing;
  std::optional<std::pair<size_t, std::string>> failure;
  pool.run(rows.size(), [&](int64_t place, unsigned worker) {
    Error error = readOne(rows[place], scratch[worker],
                          [&](const uint8_t *bytes) { take(place, bytes); });
    if (!error)
      return;
    std::string text = toString(std::move(error));
    std::lock_guard held(failing);
    if (!failure || static_cast<size_t>(place) < failure->first)
      failure.emplace(place, std::move(text));
  });
  if (!failure)
    return Error::success();
  return makeError("{0}", failure->second);
}

} // namespace mp
