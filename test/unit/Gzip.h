//===- Gzip.h - packs bytes as gzip does ------------------------*- C++ -*-===//
//-*-===//
#ifndef MP_TEST_UNIT_GZIP_H
#define MP_TEST_UNIT_GZIP_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <zlib.h>

namespace mp::test {

/// Returns a gzip file of the bytes; `level` 1 packs fastest.
inline std::string gzip(llvm::StringRef bytes, int level = 6) {
  z_stream stream = {};
  if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
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

} // namespace mp::test

#endif // MP_TEST_UNIT_GZIP_H
