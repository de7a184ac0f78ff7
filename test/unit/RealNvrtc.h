//===- RealNvrtc.h - NVIDIA's compiler in a test ----------------*- C++ -*-===//
#ifndef MP_TEST_UNIT_REALNVRTC_H
#define MP_TEST_UNIT_REALNVRTC_H

#include "runtime/cuda/Nvrtc.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

namespace mp {

/// Returns the machine's NVRTC, or the one that test/fetch-nvrtc.py brought.
inline llvm::Expected<const cuda::Nvrtc &> nvrtcForTests() {
  std::string brought = MP_NVRTC_DIR "/nvidia/cu13/lib";
  if (llvm::sys::fs::exists(brought))
    setenv("MP_CUDA_PATH", brought.c_str(), /*overwrite=*/0);
  return cuda::openNvrtc();
}

} // namespace mp

#endif // MP_TEST_UNIT_REALNVRTC_H
