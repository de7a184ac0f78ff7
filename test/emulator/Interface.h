//===- Interface.h - between a compiled kernel and the emulator -----------===//
//
// The twin of the prelude, compiled into every kernel's object, calls the
// emulated driver through this table; the driver finds an object's kernels in
// it. Kernels are compiled as C++17 without headers of a library, so this file
// includes none.
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_INTERFACE_H
#define MP_EMULATOR_INTERFACE_H

namespace mp::emulator {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// A place of a call in the kernel's text.
struct Site {
  const char *file;
  int line;
};

/// Joint actions of the lanes of a warp. Each lane passes its operands; the
/// last to arrive does the work of all.
enum class WarpAction {
  Barrier,
  Shuffle,     // value: `size` bytes, exchanged with lane ^ mask
  Any,         // value: bool, becomes the disjunction
  Load,        // value: unsigned[4], first: 16 bytes of shared memory
  Transpose,   // the same, each matrix transposed
  MultiplyF16, // value: float[4], first: unsigned[4], second: unsigned[2]
  MultiplyBf16,
  MultiplyTf32,
};

struct WarpCall {
  WarpAction action;
  Site site;
  void *value = nullptr;
  const void *first = nullptr;
  const void *second = nullptr;
  int size = 0;
  int mask = 0;
};

/// A copy of the running thread's position and all the emulator's functions.
/// `shared` is the block's, `bytesRead` and `bytesWritten` the launch's traffic
/// in global memory.
struct Context {
  Dim3 thread, block, blockSize, gridSize;
  unsigned char *shared = nullptr;
  unsigned long long bytesRead = 0, bytesWritten = 0;
  /// The range in which accesses are reported to `sharedAccess`: shared memory
  /// and the guard pages around it.
  const unsigned char *watched = nullptr;
  unsigned long long watchedBytes = 0;

  void (*sharedAccess)(const void *address, unsigned size, bool write);
  /// Reports a fault unless a tensor's elements lie in one allocation.
  void (*checkTensor)(const void *data, long long bytes);
  /// Reports an access of `count` elements from `index` on that is outside of
  /// [0, limit), or (`limit` < 0) not aligned. Never returns.
  void (*globalFault)(const void *data, long long index, int count,
                      long long limit, bool write);
  void (*barrier)(Site);
  void (*gridBarrier)(unsigned *arrived, Site);
  void (*warp)(WarpCall *);
  void (*copyAsync)(void *shared, const void *source, int bytes, int valid);
  void (*commitCopies)();
  void (*waitForCopies)(int left);
};

/// One kernel of an object.
struct KernelEntry {
  const char *name;
  void (*call)(void *const *parameters);
  int parameters;
  const unsigned *sizes;
};

} // namespace mp::emulator

#endif // MP_EMULATOR_INTERFACE_H
