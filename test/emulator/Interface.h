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

/// Where in the kernel's text something is called.
struct Site {
  const char *file;
  int line;
};

/// What the lanes of a warp do together. Each lane hands in its operands; the
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

/// A copy of the running thread's position and everything it asks of the
/// emulator. `shared` is the block's, `bytesRead` and `bytesWritten` the
/// launch's traffic in global memory.
struct Context {
  Dim3 thread, block, blockSize, gridSize;
  unsigned char *shared = nullptr;
  unsigned long long bytesRead = 0, bytesWritten = 0;
  /// The range in which accesses are reported to `sharedAccess`: shared memory
  /// and the guard pages around it.
  const unsigned char *watched = nullptr;
  unsigned long long watchedBytes = 0;

  void (*sharedAccess)(const void *address, unsigned size, bool write);
  /// A tensor's elements lie in one allocation, or this is a fault.
  void (*checkTensor)(const void *data, long long bytes);
  /// Never returns: an access of `count` elements from `index` on is outside of
  /// [0, limit), or (`limit` < 0) not aligned.
  void (*globalFault)(const void *data, long long index, int count,
                      long long limit, bool write);
  void (*barrier)(Site);
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
