//===- Memory.h - the device's memory -------------------------------------===//
//
// Device memory is memory of this process, between guard pages. Only the
// emulator's own work can access it, so that a host that reads a device address
// crashes as it would with a device.
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_MEMORY_H
#define MP_EMULATOR_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace mp::emulator {

/// The content of fresh and freed memory: NaN in every float type, -1 in
/// integers.
constexpr int poison = 0xff;

/// A readable and writable range that ends (up to `alignment`) at a page that
/// is neither, and starts after one.
class GuardedRange {
public:
  GuardedRange() = default;
  /// Empty if memory is short.
  GuardedRange(size_t bytes, size_t alignment);
  GuardedRange(GuardedRange &&other) { swap(other); }
  GuardedRange &operator=(GuardedRange &&other) {
    swap(other);
    return *this;
  }
  ~GuardedRange();

  unsigned char *data() const { return begin; }
  size_t size() const { return bytes; }
  /// The whole mapping with its guard pages.
  unsigned char *mapping() const { return map; }
  size_t mappingSize() const { return mapBytes; }
  /// Makes all of it but the guards accessible, or nothing.
  void open(bool accessible) const;

private:
  void swap(GuardedRange &other);

  unsigned char *map = nullptr, *begin = nullptr;
  size_t mapBytes = 0, bytes = 0;
};

/// Allocations of one kind, by address.
class Heap {
public:
  /// `hidden`: accessible only while an Access is alive.
  explicit Heap(bool hidden) : hidden(hidden) {}

  /// Returns poisoned memory, or nullptr if there is none.
  void *allocate(size_t bytes);
  /// Returns false if no allocation that is alive starts at `address`. The
  /// memory becomes inaccessible for good: its addresses are not used again.
  bool release(const void *address);
  /// The allocation that holds all of [address, address + bytes), or nullptr.
  const GuardedRange *find(const void *address, size_t bytes) const;
  void open(bool accessible);
  size_t count() const { return alive.size(); }
  size_t bytes() const { return total; }
  void clear();

private:
  bool hidden;
  int opened = 0;
  size_t total = 0;
  std::map<uintptr_t, GuardedRange> alive;
  mutable const GuardedRange *last = nullptr;
};

Heap &deviceHeap();
Heap &pinnedHeap();

/// While one is alive, device memory can be read and written.
struct Access {
  Access() { deviceHeap().open(true); }
  ~Access() { deviceHeap().open(false); }
};

} // namespace mp::emulator

#endif // MP_EMULATOR_MEMORY_H
