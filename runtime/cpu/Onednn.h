//===- Onednn.h - oneDNN, opened at run time ------------------------------===//
//
// We build and start without oneDNN: the library is opened when it is first
// needed, through prototypes of our own. They follow the C API of oneDNN 2.x
// (libdnnl.so.2), whose structures we only pass on, never read.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CPU_ONEDNN_H
#define MP_RUNTIME_CPU_ONEDNN_H

#include "program/Compiler.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mp {

/// Whether oneDNN can be opened on this machine. MP_DNNL_PATH names the library
/// to open; if it is not set, the loader looks for libdnnl.so.2.
bool onednnAvailable();
/// "2.6.3", or empty if oneDNN cannot be opened.
std::string onednnVersion();

/// Fails if oneDNN, which was asked for, cannot be opened. `onNote`, which may
/// be null, is told of two OpenMP runtimes.
llvm::Error checkOnednn(llvm::function_ref<void(llvm::StringRef)> onNote);

namespace dnnl {

// Opaque handles, as in the C API.
using Engine = struct dnnl_engine *;
using Stream = struct dnnl_stream *;
using Attributes = struct dnnl_primitive_attr *;
using PrimitiveDesc = struct dnnl_primitive_desc *;
using Primitive = struct dnnl_primitive *;
using Memory = struct dnnl_memory *;

/// Structures that oneDNN fills and reads, with more bytes than any 2.x needs
/// (696 and 2800 bytes in 2.6).
struct alignas(16) MemoryDesc {
  char bytes[2048];
};
struct alignas(16) MatmulDesc {
  char bytes[16384];
};
struct Argument {
  int index;
  Memory memory;
};
struct Version {
  int major, minor, patch;
  const char *hash;
  unsigned cpuRuntime, gpuRuntime;
};

// Values of the C API's enumerations.
enum Status : int { success = 0 };
enum : int { typeF16 = 1, typeBF16 = 2, typeF32 = 3 };
enum : int { engineCpu = 1 };
enum : unsigned { streamInOrder = 1 };
enum : int { scratchpadUser = 1 };
enum : int { fpmathStrict = 0 };
enum : int { queryImplementation = 8, queryScratchpad = 136 };
enum : int {
  argSource = 1,
  argDestination = 17,
  argWeights = 33,
  argBias = 41,
  argScratchpad = 80
};
enum : unsigned { runtimeSequential = 1, runtimeOpenmp = 2 };

/// The functions we call: name in oneDNN without "dnnl_", result, parameters.
#define MP_ONEDNN_FUNCTIONS(F)                                                 \
  F(version, const Version *, ())                                              \
  F(engine_create, Status, (Engine *, int kind, size_t index))                 \
  F(stream_create, Status, (Stream *, Engine, unsigned flags))                 \
  F(stream_wait, Status, (Stream))                                             \
  F(stream_destroy, Status, (Stream))                                          \
  F(memory_desc_init_by_strides, Status,                                       \
    (MemoryDesc *, int rank, const int64_t *dims, int type,                    \
     const int64_t *strides))                                                  \
  F(memory_desc_get_size, size_t, (const MemoryDesc *))                        \
  F(memory_create, Status, (Memory *, const MemoryDesc *, Engine, void *data)) \
  F(memory_set_data_handle, Status, (Memory, void *data))                      \
  F(memory_destroy, Status, (Memory))                                          \
  F(matmul_desc_init, Status,                                                  \
    (MatmulDesc *, const MemoryDesc *source, const MemoryDesc *weights,        \
     const MemoryDesc *bias, const MemoryDesc *destination))                   \
  F(primitive_attr_create, Status, (Attributes *))                             \
  F(primitive_attr_destroy, Status, (Attributes))                              \
  F(primitive_attr_set_scratchpad_mode, Status, (Attributes, int mode))        \
  F(primitive_attr_set_fpmath_mode, Status, (Attributes, int mode))            \
  F(primitive_desc_create, Status,                                             \
    (PrimitiveDesc *, const void *operation, Attributes, Engine,               \
     PrimitiveDesc hint))                                                      \
  F(primitive_desc_destroy, Status, (PrimitiveDesc))                           \
  F(primitive_desc_query, Status,                                              \
    (PrimitiveDesc, int what, int index, void *result))                        \
  F(primitive_desc_query_md, const MemoryDesc *,                               \
    (PrimitiveDesc, int what, int index))                                      \
  F(primitive_create, Status, (Primitive *, PrimitiveDesc))                    \
  F(primitive_destroy, Status, (Primitive))                                    \
  F(primitive_execute, Status, (Primitive, Stream, int count, const Argument *))

/// The open library.
struct Library {
#define MP_DECLARE(NAME, RESULT, PARAMETERS) RESULT(*NAME) PARAMETERS = nullptr;
  MP_ONEDNN_FUNCTIONS(MP_DECLARE)
#undef MP_DECLARE
  /// libgomp's, as oneDNN sees it; null if oneDNN is sequential.
  void (*omp_set_num_threads)(int) = nullptr;
  /// That of another OpenMP runtime, which was loaded before oneDNN and takes
  /// its calls; null if there is none. Its file and libgomp's are `openmps`.
  void (*preloaded_omp_set_num_threads)(int) = nullptr;
  std::string openmps;
  Engine engine = nullptr; ///< the CPU; shared by all threads
};

/// The library, opened at the first call and never closed: its OpenMP runtime
/// does not survive that. An error names what was tried. Thread-safe.
llvm::Expected<const Library &> open();

/// Turns a status into success, or an error that names call, status and `what`.
llvm::Error check(Status status, llvm::StringRef call, const llvm::Twine &what);

/// Owns a handle of the library.
template <typename T> class Handle {
public:
  Handle() = default;
  Handle(Handle &&other) noexcept { *this = std::move(other); }
  Handle &operator=(Handle &&other) noexcept {
    std::swap(value, other.value);
    std::swap(destroy, other.destroy);
    return *this;
  }
  ~Handle() {
    if (value)
      destroy(value);
  }
  /// The place in which a `create` function stores the new handle.
  T *slot(Status (*destroyer)(T)) {
    destroy = destroyer;
    return &value;
  }
  T get() const { return value; }

private:
  T value = nullptr;
  Status (*destroy)(T) = nullptr;
};

} // namespace dnnl
} // namespace mp

#endif // MP_RUNTIME_CPU_ONEDNN_H
