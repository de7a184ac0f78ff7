//===- Target.h - what the fuzz targets share -----------------------------===//
//
// A target is a function that takes any bytes and returns. libFuzzer calls it
// with new ones, Replay.cpp with those of a corpus.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_FAULTS_FUZZ_TARGET_H
#define MP_TEST_FAULTS_FUZZ_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace mp::fuzz {

/// Ends the process unless `holds`: a finding.
inline void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "finding: %s\n", what);
  std::abort();
}

/// A regular file in memory, which readers open by its path.
class MemoryFile {
public:
  MemoryFile() : file(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(file >= 0, "no file in memory");
  }
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() { close(file); }

  std::string write(llvm::StringRef bytes) {
    require(!ftruncate(file, 0) && pwrite(file, bytes.data(), bytes.size(),
                                          0) == ssize_t(bytes.size()),
            "the file in memory cannot be written");
    return "/proc/self/fd/" + std::to_string(file);
  }

private:
  int file;
};

/// An error has one line, and no more than its text.
template <typename T> bool succeeds(llvm::Expected<T> &value) {
  if (value)
    return true;
  std::string message = llvm::toString(value.takeError());
  require(!message.empty(), "an error without message");
  return false;
}

/// The content of a safetensors file: `bytes`, or a header and data without the
/// length of the header if they begin as a header does. Mutants of a length say
/// nothing about the rest of the reader.
inline std::string asSafetensors(llvm::StringRef bytes) {
  if (!bytes.starts_with("{"))
    return bytes.str();
  char length[8];
  llvm::support::endian::write64le(length, bytes.rfind('}') + 1);
  return std::string(length, 8) + bytes.str();
}

inline llvm::StringRef textOf(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

/// Reads every byte, so that a sanitizer sees an array that lies elsewhere.
inline void touch(llvm::ArrayRef<char> bytes) {
  static volatile char last;
  for (char byte : bytes)
    last = last ^ byte;
}

} // namespace mp::fuzz

#endif // MP_TEST_FAULTS_FUZZ_TARGET_H
