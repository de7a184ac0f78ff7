//===- Memory.cpp - the device's memory -----------------------------------===//

#include "Memory.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace mp::emulator {

static size_t roundUp(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}
static size_t pageSize() {
  static const size_t size = sysconf(_SC_PAGESIZE);
  return size;
}

GuardedRange::GuardedRange(size_t bytes, size_t alignment) : bytes(bytes) {
  size_t used = roundUp(bytes, alignment);
  size_t inner = roundUp(used, pageSize());
  void *address = mmap(nullptr, inner + 2 * pageSize(), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    return;
  map = static_cast<unsigned char *>(address);
  mapBytes = inner + 2 * pageSize();
  begin = map + pageSize() + inner - used;
  open(true);
}

GuardedRange::~GuardedRange() {
  if (map)
    munmap(map, mapBytes);
}

void GuardedRange::open(bool accessible) const {
  mprotect(map + pageSize(), mapBytes - 2 * pageSize(),
           accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void GuardedRange::swap(GuardedRange &other) {
  std::swap(map, other.map);
  std::swap(begin, other.begin);
  std::swap(mapBytes, other.mapBytes);
  std::swap(bytes, other.bytes);
}

void *Heap::allocate(size_t bytes) {
  GuardedRange range(bytes, 256); // the driver's alignment
  unsigned char *data = range.data();
  if (!data)
    return nullptr;
  memset(data, poison, bytes);
  if (hidden && !opened)
    range.open(false);
  total += bytes;
  last = nullptr;
  alive[reinterpret_cast<uintptr_t>(data)] = std::move(range);
  return data;
}

bool Heap::release(const void *address) {
  auto found = alive.find(reinterpret_cast<uintptr_t>(address));
  if (found == alive.end())
    return false;
  // The range of addresses stays reserved, without memory.
  auto *freed = new GuardedRange(std::move(found->second));
  freed->open(false);
  madvise(freed->mapping(), freed->mappingSize(), MADV_DONTNEED);
  total -= freed->size();
  last = nullptr;
  alive.erase(found);
  return true;
}

const GuardedRange *Heap::find(const void *address, size_t bytes) const {
  auto at = reinterpret_cast<uintptr_t>(address);
  auto holds = [&](const GuardedRange &range) {
    auto begin = reinterpret_cast<uintptr_t>(range.data());
    return at >= begin && at - begin <= range.size() &&
           bytes <= range.size() - (at - begin);
  };
  if (last && holds(*last))
    return last;
  auto next = alive.upper_bound(at);
  if (next == alive.begin() || !holds(std::prev(next)->second))
    return nullptr;
  return last = &std::prev(next)->second;
}

void Heap::open(bool accessible) {
  bool before = opened > 0;
  opened += accessible ? 1 : -1;
  if (hidden && before != (opened > 0))
    for (const auto &[address, range] : alive)
      range.open(accessible);
}

void Heap::clear() {
  while (!alive.empty())
    release(alive.begin()->second.data());
}

// It is never destroyed, as other libraries' destructors may still call the
// driver.
Heap &deviceHeap() {
  static auto *heap = new Heap(true);
  return *heap;
}
Heap &pinnedHeap() {
  static auto *heap = new Heap(false);
  return *heap;
}

} // namespace mp::emulator
