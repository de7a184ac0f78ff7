//===- Memory.h - zeroed memory that tensors lie in -----------------------===//
#ifndef MP_RUNTIME_MEMORY_H
#define MP_RUNTIME_MEMORY_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace mp {

/// The alignment of tensors: a cache line, and the widest vector.
inline constexpr uint64_t kTensorAlignment = 64;

inline uint64_t alignToTensor(uint64_t bytes) {
  return llvm::alignTo(bytes, kTensorAlignment);
}

/// Zeroed, page-aligned memory; large blocks ask for huge pages. Pages cost
/// nothing until they are touched.
class Memory {
public:
  Memory() = default;
  Memory(Memory &&other) noexcept { *this = std::move(other); }
  Memory &operator=(Memory &&other) noexcept;
  ~Memory();

  /// `what` names the memory in the error: "cannot allocate 64 bytes for ...".
  static llvm::Expected<Memory> allocate(uint64_t bytes, llvm::StringRef what);

  char *data() const { return base; }
  uint64_t size() const { return bytes; }

private:
  char *base = nullptr;
  uint64_t bytes = 0;
};

/// The one arena of all entry points. It moves when it grows, but results stay
/// valid until the next run.
class Arena {
public:
  char *base() const { return current.data(); }
  uint64_t size() const { return current.size(); }
  /// Grows to at least `bytes` bytes. The contents are lost.
  llvm::Error grow(uint64_t bytes);
  /// Frees the buffers that growing replaced.
  void release() { retired.clear(); }

private:
  Memory current;
  std::vector<Memory> retired;
};

/// Scratch memory of each worker, as large as the largest task needs.
class WorkerScratch {
public:
  explicit WorkerScratch(unsigned workers) : workers(workers) {}
  llvm::Error grow(uint64_t bytesPerWorker);
  void fill(unsigned char byte);
  char *of(unsigned worker) const { return memory.data() + worker * stride; }

private:
  unsigned workers;
  uint64_t stride = 0;
  Memory memory;
};

} // namespace mp

#endif // MP_RUNTIME_MEMORY_H
