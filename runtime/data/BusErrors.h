//===- BusErrors.h - reading mapped files that shrink -----------*- C++ -*-===//
#ifndef MP_RUNTIME_DATA_BUSERRORS_H
#define MP_RUNTIME_DATA_BUSERRORS_H

#include <cstddef>
#include <optional>

namespace mp {

/// A mapped range of memory whose file may shrink, or lie on a disk that fails.
/// The system sends SIGBUS to a thread that reads what is missing, which would
/// end the process. As long as ranges are guarded, a handler puts zeros in the
/// place of what is missing and marks the range, so that its reader finds out
/// afterwards.
///
/// The handler is installed with the first range and removed with the last,
/// unless another one has been installed over it meanwhile. A signal for an
/// address outside of all ranges goes to the handler that was there before.
class GuardedRange {
public:
  /// Nothing if too many ranges are guarded already.
  static std::optional<GuardedRange> add(const char *begin, size_t bytes);
  GuardedRange(GuardedRange &&other) noexcept;
  GuardedRange &operator=(GuardedRange &&) = delete;
  /// Must come before the range is unmapped.
  ~GuardedRange();

  /// Whether a part of the range could not be read.
  bool failed() const;

private:
  explicit GuardedRange(size_t slot) : slot(slot) {}
  std::optional<size_t> slot;
};

} // namespace mp

#endif // MP_RUNTIME_DATA_BUSERRORS_H
