//===- Replay.cpp - runs a fuzz target over a corpus ----------------------===//
//
// Takes files and folders. Needs neither libFuzzer nor a sanitizer, so that
// what once was a finding stays mended in every build.
//
//===----------------------------------------------------------------------===//
#include "Target.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <vector>

using namespace llvm;

static std::vector<std::string> filesIn(const char *path) {
  if (!sys::fs::is_directory(path))
    return {path};
  std::vector<std::string> files;
  std::error_code code;
  for (sys::fs::directory_iterator it(path, code), end; it != end && !code;
       it.increment(code))
    files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

int main(int argc, char **argv) {
  size_t count = 0;
  for (int i = 1; i < argc; ++i)
    for (const std::string &file : filesIn(argv[i])) {
      auto buffer = MemoryBuffer::getFile(file);
      if (!buffer) {
        std::fprintf(stderr, "%s: %s\n", file.c_str(),
                     buffer.getError().message().c_str());
        return 1;
      }
      // A crash leaves the name of its file as the last line.
      std::fprintf(stderr, "%s\n", file.c_str());
      StringRef bytes = (*buffer)->getBuffer();
      // A copy of the exact size: reads behind it are out of bounds.
      std::vector<uint8_t> copy(bytes.bytes_begin(), bytes.bytes_end());
      LLVMFuzzerTestOneInput(copy.data(), copy.size());
      ++count;
    }
  std::printf("%zu inputs\n", count);
  return count ? 0 : 1;
}
