//===- Jpeg.cpp - JPEG files ----------------------------------------------===//
#include "runtime/pictures/Picture.h"
#include "support/Error.h"
#include <memory>
#include <turbojpeg.h>

using namespace llvm;

namespace mp {
namespace {

struct Destroy {
  void operator()(void *decoder) const { tjDestroy(decoder); }
};
using Decoder = std::unique_ptr<void, Destroy>;

/// Whether the library went on after what it found. Some cameras leave bytes
/// between the parts of a file; all else that it goes on from is damage.
bool isHarmless(tjhandle decoder) {
  return tjGetErrorCode(decoder) == TJERR_WARNING &&
         StringRef(tjGetErrorStr2(decoder)).contains("extraneous bytes");
}

Error decodeError(StringRef path, tjhandle decoder) {
  return makeError("{0}: damaged JPEG file: {1}", path,
                   StringRef(tjGetErrorStr2(decoder)));
}

/// Programs of Adobe's mark their files, and store 255 less the ink.
bool storesLight(StringRef content) {
  return content.contains(StringRef("\xff\xee\0\x0e"
                                    "Adobe",
                                    9));
}

/// Turns four bytes of a pixel to three, from the front.
void convertInks(Picture &picture, bool light) {
  size_t count = picture.pixels.size() / 4;
  for (size_t i = 0; i < count; ++i) {
    uint8_t cmyk[4];
    for (unsigned channel = 0; channel < 4; ++channel) {
      uint8_t stored = picture.pixels[4 * i + channel];
      cmyk[channel] = light ? stored : 255 - stored;
    }
    for (unsigned channel = 0; channel < 3; ++channel)
      picture.pixels[3 * i + channel] = (cmyk[channel] * cmyk[3] + 127) / 255;
  }
  picture.pixels.resize(3 * count);
}

} // namespace

Expected<Picture> decodeJpeg(StringRef content, StringRef path) {
  Decoder decoder(tjInitDecompress());
  if (!decoder)
    return makeError("{0}: no memory to decode it", path);
  auto *bytes = reinterpret_cast<const unsigned char *>(content.data());
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), bytes, content.size(), &width, &height,
                          &sampling, &colours) &&
      !isHarmless(decoder.get()))
    return decodeError(path, decoder.get());
  if (height < 1 || width < 1)
    return makeError("{0}: damaged JPEG file: it ends in its header", path);
  if (Error error = checkPixels(height, width, path))
    return std::move(error);
  // Each block of 8 x 8 pixels takes a bit or more.
  if (int64_t(height) * width / 512 > int64_t(content.size()))
    return makeError("{0}: truncated: {1} bytes cannot hold {2} x {3} pixels",
                     path, content.size(), width, height);
  bool inks = colours == TJCS_CMYK || colours == TJCS_YCCK;
  int format = inks ? TJPF_CMYK : TJPF_RGB;
  Picture picture{height, width, {}};
  picture.pixels.resize(int64_t(height) * width * tjPixelSize[format]);
  // A small file may ask for thousands of passes over a large picture.
  if (tjDecompress2(decoder.get(), bytes, content.size(), picture.pixels.data(),
                    width, /*pitch=*/0, height, format, TJFLAG_LIMITSCANS) &&
      !isHarmless(decoder.get()))
    return decodeError(path, decoder.get());
  if (inks)
    convertInks(picture, storesLight(content));
  return picture;
}

} // namespace mp
