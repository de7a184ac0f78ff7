//===- Picture.h - decoded pictures ---------------------------------------===//
#ifndef MP_RUNTIME_PICTURES_PICTURE_H
#define MP_RUNTIME_PICTURES_PICTURE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace mp {

/// A picture in memory: rows of pixels from the top, each pixel a byte of red,
/// of green and of blue.
struct Picture {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> pixels;
};

/// The most pixels of a picture that is decoded. The header says how many there
/// are, so one of more is refused before any memory is taken for it.
constexpr int64_t kMostPixels = int64_t(1) << 26;

/// Whether the name of a file ends as that of a PNG or a JPEG file.
bool isPictureName(llvm::StringRef name);

/// Decodes a PNG or a JPEG file, by its first bytes and not by its name. Gray
/// pixels get three equal bytes, a palette its colours, 16 bits are scaled to
/// 8, transparency is left out, and CMYK becomes `(255 - ink) * (255 - black) /
/// 255`. Neither the colour profile nor the orientation of Exif is applied. An
/// error names `path`: neither format, damaged, truncated, or more pixels than
/// kMostPixels.
llvm::Expected<Picture> decodePicture(llvm::StringRef content,
                                      llvm::StringRef path);

/// The same, for each format.
llvm::Expected<Picture> decodePng(llvm::StringRef content,
                                  llvm::StringRef path);
llvm::Expected<Picture> decodeJpeg(llvm::StringRef content,
                                   llvm::StringRef path);

/// Returns a PNG file of `height` rows of `width` pixels of `channels` bytes,
/// which are 1, gray, or 3: red, green and blue.
std::string encodePng(llvm::ArrayRef<uint8_t> pixels, int64_t height,
                      int64_t width, int64_t channels);

/// Fails if a header announces no pixels, or more than kMostPixels.
llvm::Error checkPixels(int64_t height, int64_t width, llvm::StringRef path);

/// Writes the middle of a picture as `height` rows of `width` pixels of
/// `channels` bytes to `to`, which the picture is scaled for so that it just
/// covers them. One channel is the luma of ITU-R BT.601; three are red, green
/// and blue. Scaling is bilinear, over a wider triangle where it reduces, as
/// Pillow and torchvision's Resize and CenterCrop do it.
void fitPicture(const Picture &picture, int64_t height, int64_t width,
                int64_t channels, uint8_t *to);

} // namespace mp

#endif // MP_RUNTIME_PICTURES_PICTURE_H
