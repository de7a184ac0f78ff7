//===- idx.cpp - fuzz target: idx files, plain and gzipped ----------------===//
#include "runtime/data/Idx.h"
#include "Target.h"
#include <zlib.h>

using namespace mp;
using namespace mp::fuzz;

static std::string gzip(llvm::StringRef bytes) {
  z_stream stream = {};
  require(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK,
          "zlib cannot start");
  std::string packed(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = bytes.size();
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = packed.size();
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

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
    packed += gzip(bytes.take_front(part));
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
