//===- Picture.cpp - decoded pictures -------------------------------------===//
#include "runtime/pictures/Picture.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp {

bool isPictureName(StringRef name) {
  return any_of(std::initializer_list<StringRef>{".png", ".jpg", ".jpeg"},
                [&](StringRef end) { return name.ends_with_insensitive(end); });
}

Error checkPixels(int64_t height, int64_t width, StringRef path) {
  if (height < 1 || width < 1)
    return makeError("{0}: a picture of {1} x {2} pixels", path, width, height);
  // Headers give each size in at most 32 bits.
  if (height * width <= kMostPixels)
    return Error::success();
  return makeError("{0}: a picture of {1} x {2} pixels, which is more than {3} "
                   "million: scale it down",
                   path, width, height, kMostPixels / 1'000'000);
}

Expected<Picture> decodePicture(StringRef content, StringRef path) {
  if (content.starts_with("\x89PNG"))
    return decodePng(content, path);
  if (content.starts_with("\xff\xd8"))
    return decodeJpeg(content, path);
  if (content.empty())
    return makeError("{0}: is empty, expected a picture", path);
  return makeError("{0}: neither a PNG nor a JPEG file", path);
}

} // namespace mp
