//===- ByteSource.cpp - a file read in order, unpacked where gzipped ------===//
#include "runtime/data/ByteSource.h"
#include "support/Error.h"
#include <algorithm>
#include <cstring>
#include <zlib.h>

using namespace llvm;

namespace mp {
namespace {

Error truncated(StringRef path, uint64_t had, uint64_t wanted) {
  return makeError("{0}: truncated: ends after {1} bytes of content, expected "
                   "{2} or more",
                   path, had, wanted);
}

class PlainSource : public ByteSource {
public:
  PlainSource(StringRef content, StringRef path)
      : content(content), path(path) {}

  Error read(MutableArrayRef<char> bytes) override {
    if (bytes.size() > content.size() - position)
      return truncated(path, content.size(), position + bytes.size());
    std::copy_n(content.data() + position, bytes.size(), bytes.data());
    position += bytes.size();
    return Error::success();
  }

  Error expectEnd() override {
    if (position == content.size())
      return Error::success();
    return makeError("{0}: {1} bytes left over after the {2} that its header "
                     "announces",
                     path, content.size() - position, position);
  }

private:
  StringRef content;
  std::string path;
  size_t position = 0;
};

class GzipSource : public ByteSource {
public:
  GzipSource(StringRef content, StringRef path) : content(content), path(path) {
    // 15 selects the largest window, 16 a gzip header.
    ready = inflateInit2(&stream, 15 + 16) == Z_OK;
  }
  ~GzipSource() override {
    if (ready)
      inflateEnd(&stream);
  }

  Error read(MutableArrayRef<char> bytes) override {
    Expected<size_t> got = inflateInto(bytes);
    if (!got)
      return got.takeError();
    if (*got < bytes.size())
      return truncated(path, position, position - *got + bytes.size());
    return Error::success();
  }

  Error expectEnd() override {
    // Asking for a byte more also makes zlib check the trailing checksum.
    uint64_t announced = position;
    char extra;
    Expected<size_t> got = inflateInto(MutableArrayRef<char>(&extra, 1));
    if (!got)
      return got.takeError();
    if (*got)
      return makeError("{0}: bytes left over after the {1} that its header "
                       "announces",
                       path, announced);
    return Error::success();
  }

private:
  /// Returns how many bytes were read: fewer than asked only at the end.
  Expected<size_t> inflateInto(MutableArrayRef<char> bytes) {
    if (!ready)
      return makeError("{0}: zlib cannot start: out of memory", path);
    size_t done = 0;
    while (done < bytes.size() && !ended) {
      // zlib counts in 32 bits.
      constexpr size_t chunk = 1u << 30;
      size_t in = std::min(content.size() - consumed, chunk);
      size_t out = std::min(bytes.size() - done, chunk);
      stream.next_in = reinterpret_cast<Bytef *>(
          const_cast<char *>(content.data() + consumed));
      stream.avail_in = in;
      stream.next_out = reinterpret_cast<Bytef *>(bytes.data() + done);
      stream.avail_out = out;
      int status = inflate(&stream, Z_NO_FLUSH);
      consumed += in - stream.avail_in;
      done += out - stream.avail_out;
      position += out - stream.avail_out;
      if (status == Z_STREAM_END) {
        if (Error error = endMember())
          return error;
      } else if (status == Z_BUF_ERROR && consumed == content.size()) {
        return makeError("{0}: truncated: the gzip data ends in the middle, "
                         "after {1} bytes of content",
                         path, position);
      } else if (status != Z_OK) {
        return makeError("{0}: damaged gzip data after {1} bytes of content: "
                         "{2}",
                         path, position,
                         stream.msg ? stream.msg : zError(status));
      }
    }
    return done;
  }

  /// A gzip file is one member or several, one after the other (RFC 1952, 2.2).
  Error endMember() {
    if (consumed == content.size()) {
      ended = true;
      return Error::success();
    }
    if (!isGzip(content.drop_front(consumed)))
      return makeError("{0}: {1} bytes left over after the gzip data", path,
                       content.size() - consumed);
    inflateReset(&stream);
    return Error::success();
  }

  StringRef content;
  std::string path;
  z_stream stream = {};
  bool ready = false, ended = false;
  size_t consumed = 0;
  uint64_t position = 0;
};

} // namespace

bool isGzip(StringRef content) { return content.starts_with("\x1f\x8b"); }

std::unique_ptr<ByteSource> openBytes(StringRef content, StringRef path) {
  if (isGzip(content))
    return std::make_unique<GzipSource>(content, path);
  return std::make_unique<PlainSource>(content, path);
}

} // namespace mp
