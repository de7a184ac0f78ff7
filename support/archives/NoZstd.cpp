//===- NoZstd.cpp - zstd for LLVM's archives: always an error -------------===//
//
// LLVM can pack debug sections with zstd. Nothing here asks for that, so what
// is linked from the archives has these functions instead of the library; each
// reports failure in the library's way, which LLVM passes on as an error of its
// own.
//
//===----------------------------------------------------------------------===//
#include <cstddef>

extern "C" {
struct ZSTD_CCtx;

static constexpr size_t kFailure = static_cast<size_t>(-1);

unsigned ZSTD_isError(size_t code) { return code == kFailure; }
const char *ZSTD_getErrorName(size_t) { return "this program has no zstd"; }
size_t ZSTD_compressBound(size_t) { return 0; }
ZSTD_CCtx *ZSTD_createCCtx() { return nullptr; }
size_t ZSTD_freeCCtx(ZSTD_CCtx *) { return 0; }
size_t ZSTD_CCtx_setParameter(ZSTD_CCtx *, int, int) { return kFailure; }
size_t ZSTD_compress2(ZSTD_CCtx *, void *, size_t, const void *, size_t) {
  return kFailure;
}
size_t ZSTD_decompress(void *, size_t, const void *, size_t) {
  return kFailure;
}
}
