//===- idx.cpp - fuzz target: idx files, plain and gzipped ----------------===//
#include "runtime/data/Idx.h"
#include "Gzip.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;

/// `bytes`; or, as mutants of packed data fail by their checksum alone, after
/// a letter 'z' and one byte: the rest packed, in 1 to 4 members, of which the
/// last 0 to 63 bytes are cut off.
static std::string asIdx(llvm::StringRef bytes) {
  if (!bytes.starts_with("z") || bytes.size() < 2)
    return bytes.str();
  unsigned char form = bytes[1];
  bytes = bytes.drop_front(2);
  std::string packed;
  for (unsigned left = 1 + form % 4; left; --left) {
    size_t part = bytes.size() / left;
    packed += test::gzip(bytes.take_front(part), 1);
    bytes = bytes.drop_front(part);
  }
  packed.resize(packed.size() - std::min<size_t>(packed.size(), form / 4));
  return packed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MemoryFile memory;
  std::string path = memory.write(asIdx(textOf(data, size)));
  auto type = peekIdx(path);
  bool hasHeader = succeeds(type);
  auto array = readIdx(path);
  if (!succeeds(array))
    return 0;
  require(hasHeader && *type == array->type, "the header is read otherwise");
  require(type->bytes() == array->bytes.size(), "data of another size");
  touch(array->bytes);
  return 0;
}
