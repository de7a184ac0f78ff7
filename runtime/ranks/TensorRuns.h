//===- TensorRuns.h - several tensors as one row of bytes -----------------===//
#ifndef MP_RUNTIME_RANKS_TENSORRUNS_H
#define MP_RUNTIME_RANKS_TENSORRUNS_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace mp {

/// The bytes of tensors, or of parts of them, one after the other, so that many
/// small tensors travel as one.
class TensorRuns {
public:
  void clear() {
    runs.clear();
    total = 0;
  }
  void add(const void *data, uint64_t bytes) {
    if (bytes == 0)
      return;
    // One list serves for reading and writing; `unpack` and `at` write.
    runs.push_back(
        {static_cast<char *>(const_cast<void *>(data)), total, bytes});
    total += bytes;
  }
  uint64_t bytes() const { return total; }

  /// Calls visit(address, offset from `begin`, bytes) for what is in
  /// [begin, end).
  template <typename Visit>
  void visit(uint64_t begin, uint64_t end, Visit visit) const {
    for (const Run &run : runs) {
      uint64_t first = std::max(begin, run.begin);
      uint64_t last = std::min(end, run.begin + run.bytes);
      if (first < last)
        visit(run.data + (first - run.begin), first - begin, last - first);
    }
  }
  /// The address of [begin, end) if that is in one run, or else null.
  char *at(uint64_t begin, uint64_t end) const {
    for (const Run &run : runs)
      if (run.begin <= begin && end <= run.begin + run.bytes)
        return run.data + (begin - run.begin);
    return nullptr;
  }
  void pack(uint64_t begin, uint64_t end, char *to) const {
    visit(begin, end, [&](const char *from, uint64_t offset, uint64_t bytes) {
      std::memcpy(to + offset, from, bytes);
    });
  }
  void unpack(uint64_t begin, uint64_t end, const char *from) const {
    visit(begin, end, [&](char *to, uint64_t offset, uint64_t bytes) {
      std::memcpy(to, from + offset, bytes);
    });
  }

private:
  struct Run {
    char *data;
    uint64_t begin, bytes;
  };
  std::vector<Run> runs;
  uint64_t total = 0;
};

} // namespace mp

#endif // MP_RUNTIME_RANKS_TENSORRUNS_H
