//===- Memory.h - zeroed memory that tensors lie in -----------------------===//
#ifndef MP_RUNTIME_MEMORY_H
#define MP_RUNTIME_MEMORY_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace mp {

/// The alignment of tensors in bytes: a cache line, and the widest vector.
inline constexpr uint64_t kTensorAlignment = 64;

inline uint64_t alignToTensor(uint64_t bytes) {
  return llvm::alignTo(bytes, kTensorAlignment);
}

/// A page-aligned allocation that is zeroed. Large ones use huge pages. Pages
/// cost nothing until they are touched.
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

/// The arena that all entry points share. It moves when it grows, but the
/// memory that a result points to stays valid until the next run.
class Arena {
public:
  char *base() const { return current.data(); }
  uint64_t size() const { return current.size(); }
  /// Grows the arena to at least `bytes` bytes. The contents are lost.
  llvm::Error grow(uint64_t bytes);
  /// Frees the buffers that growing replaced.
  void release() { retired.clear(); }

private:
  Memory current;
  std::vector<Memory> retired;
};

/// Scratch memory for each worker, as large as the largest that a task needs.
class WorkerScratch {
public:
  explicit WorkerScratch(unsigned workers) : workers(workers) {}
  llvm::Error grow(uint64_t bytesPerWorker);
  void fill(unsigned char byte);
  uint64_t size() const { return memory.size(); }
  char *of(unsigned worker) const { return memory.data() + worker * stride; }

private:
  unsigned workers;
  uint64_t stride = 0;
  Memory memory;
};

} // namespace mp

#endif // MP_RUNTIME_MEMORY_H
