//===- TestFiles.h - folders and files for tests of the runtime -----------===//
#ifndef MP_TEST_UNIT_TESTFILES_H
#define MP_TEST_UNIT_TESTFILES_H

#include "Gzip.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace mp::test {

/// A folder that is removed when the test ends.
class TestFolder {
public:
  TestFolder() {
    llvm::SmallString<128> folder;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("mp-test", folder));
    root = folder.str().str();
  }
  ~TestFolder() { llvm::sys::fs::remove_directories(root); }
  TestFolder(const TestFolder &) = delete;

  std::string path(const std::string &name) const { return root + "/" + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string read(const std::string &name) const {
    auto buffer = llvm::MemoryBuffer::getFile(path(name));
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  /// The names of its files, for tests of leftover files.
  size_t files() const {
    std::error_code code;
    size_t count = 0;
    for (llvm::sys::fs::directory_iterator it(root, code), end; it != end;
         it.increment(code))
      ++count;
    return count;
  }

  std::string root;
};

/// An idx file: type code, sizes, data.
inline std::string idx(unsigned char type, const std::vector<uint32_t> &shape,
                       const std::string &data) {
  std::string bytes{'\0', '\0', char(type), char(shape.size())};
  for (uint32_t size : shape) {
    char big[4];
    llvm::support::endian::write32be(big, size);
    bytes.append(big, 4);
  }
  return bytes + data;
}

/// A safetensors file from its header's text.
inline std::string safetensors(const std::string &header,
                               const std::string &data) {
  char length[8];
  llvm::support::endian::write64le(length, header.size());
  return std::string(length, 8) + header + data;
}

/// An npy file of version 1 from its header's text.
inline std::string npy(const std::string &header, const std::string &data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  char length[2];
  llvm::support::endian::write16le(length, header.size());
  return bytes + std::string(length, 2) + header + data;
}

template <typename T> std::string message(llvm::Expected<T> value) {
  return value ? "no error" : llvm::toString(value.takeError());
}
inline std::string message(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "no error";
}

} // namespace mp::test

#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

#endif // MP_TEST_UNIT_TESTFILES_H
