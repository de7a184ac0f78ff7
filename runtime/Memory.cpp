//===- Memory.cpp - zeroed memory that tensors lie in ---------------------===//
#include "runtime/Memory.h"
#include "llvm/ADT/Twine.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace mp;

static constexpr uint64_t kPageBytes = 4096;
static constexpr uint64_t kHugePageBytes = uint64_t(2) << 20;

Memory &Memory::operator=(Memory &&other) noexcept {
  std::swap(base, other.base);
  std::swap(bytes, other.bytes);
  return *this;
}

Memory::~Memory() {
  if (base)
    munmap(base, bytes);
}

llvm::Expected<Memory> Memory::allocate(uint64_t bytes, llvm::StringRef what) {
  Memory memory;
  if (bytes == 0)
    return memory;
  uint64_t unit = bytes >= kHugePageBytes ? kHugePageBytes : kPageBytes;
  uint64_t size = llvm::alignTo(bytes, unit);
  void *base = size < bytes ? (errno = ENOMEM, MAP_FAILED)
                            : mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return llvm::createStringError("cannot allocate " + llvm::Twine(bytes) +
                                   " bytes for " + what + ": " +
                                   std::strerror(errno));
  if (unit == kHugePageBytes)
    madvise(base, size, MADV_HUGEPAGE); // This is a hint; failure is harmless.
  memory.base = static_cast<char *>(base);
  memory.bytes = size;
  return memory;
}

llvm::Error Arena::grow(uint64_t bytes) {
  if (bytes <= current.size())
    return llvm::Error::success();
  llvm::Expected<Memory> larger = Memory::allocate(bytes, "the arena");
  if (!larger)
    return larger.takeError();
  retired.push_back(std::move(current));
  current = std::move(*larger);
  return llvm::Error::success();
}

void WorkerScratch::fill(unsigned char byte) {
  if (memory.size())
    std::memset(memory.data(), byte, memory.size());
}

llvm::Error WorkerScratch::grow(uint64_t bytesPerWorker) {
  if (bytesPerWorker <= stride)
    return llvm::Error::success();
  // Workers get whole pages, so that they share no cache line and can be on
  // different NUMA nodes.
  uint64_t larger = llvm::alignTo(bytesPerWorker, kPageBytes);
  llvm::Expected<Memory> grown =
      Memory::allocate(larger * workers, "the workers' scratch");
  if (!grown)
    return grown.takeError();
  memory = std::move(*grown);
  stride = larger;
  return llvm::Error::success();
}
