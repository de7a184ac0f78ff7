//===- Png.cpp - PNG files ------------------------------------------------===//
//
// libpng reports an error by longjmp, which destroys nothing on its way. So
// only C calls stand between setjmp and the end of the functions below, and
// what they need lives outside of them.
//
//===----------------------------------------------------------------------===//
#include "runtime/pictures/Picture.h"
#include "support/Error.h"
#include <algorithm>
#include <png.h>

using namespace llvm;

namespace mp {
namespace {

class PngFile {
public:
  explicit PngFile(StringRef content) : rest(content) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
    if (!png)
      return;
    info = png_create_info_struct(png);
    png_set_read_fn(png, this, take);
    // Text, profiles and the like are not used; in a few bytes they announce
    // megabytes.
    png_set_chunk_malloc_max(png, 1 << 16);
  }
  ~PngFile() { png_destroy_read_struct(&png, &info, nullptr); }
  PngFile(const PngFile &) = delete;

  /// Each returns false if libpng has failed, and `problem` says why.
  bool readHeader() {
    if (!png || !info)
      return false;
    if (setjmp(png_jmpbuf(png)))
      return false;
    png_read_info(png, info);
    return true;
  }
  /// Makes each pixel three bytes.
  bool convert() {
    if (setjmp(png_jmpbuf(png)))
      return false;
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return true;
  }
  bool readPixels(png_bytep *rows) {
    if (setjmp(png_jmpbuf(png)))
      return false;
    png_read_image(png, rows);
    png_read_end(png, nullptr);
    return true;
  }

  int64_t height() const { return png_get_image_height(png, info); }
  int64_t width() const { return png_get_image_width(png, info); }
  int64_t rowBytes() const { return png_get_rowbytes(png, info); }
  const char *problem() const { return text; }

private:
  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto *self = static_cast<PngFile *>(png_get_error_ptr(png));
    std::copy_n(message, std::min(strlen(message), sizeof(text) - 1),
                self->text);
    png_longjmp(png, 1);
  }
  static void ignore(png_structp, png_const_charp) {}
  static void take(png_structp png, png_bytep to, size_t bytes) {
    auto *self = static_cast<PngFile *>(png_get_io_ptr(png));
    if (bytes > self->rest.size())
      png_error(png, "truncated");
    std::copy_n(self->rest.data(), bytes, to);
    self->rest = self->rest.drop_front(bytes);
  }

  StringRef rest;
  png_structp png = nullptr;
  png_infop info = nullptr;
  char text[128] = "no memory to decode it";
};

} // namespace

Expected<Picture> decodePng(StringRef content, StringRef path) {
  PngFile file(content);
  auto damaged = [&] {
    return makeError("{0}: damaged PNG file: {1}", path,
                     StringRef(file.problem()));
  };
  if (!file.readHeader())
    return damaged();
  if (Error error = checkPixels(file.height(), file.width(), path))
    return std::move(error);
  // Deflate cannot compress better than about 1 to 1032, a row to less than a
  // bit a pixel.
  if (file.height() * file.width() / 8 > int64_t(content.size()) * 1040)
    return makeError("{0}: truncated: {1} bytes cannot hold {2} x {3} pixels",
                     path, content.size(), file.width(), file.height());
  if (!file.convert())
    return damaged();
  Picture picture{file.height(), file.width(), {}};
  if (file.rowBytes() != 3 * picture.width)
    return makeError("{0}: a PNG file of pixels that cannot be converted",
                     path);
  picture.pixels.resize(3 * picture.height * picture.width);
  std::vector<png_bytep> rows(picture.height);
  for (int64_t row = 0; row < picture.height; ++row)
    rows[row] = picture.pixels.data() + 3 * row * picture.width;
  if (!file.readPixels(rows.data()))
    return damaged();
  return picture;
}

std::string encodePng(ArrayRef<uint8_t> pixels, int64_t height, int64_t width,
                      int64_t channels) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(bytes, '\0');
  bool isWritten =
      png_image_write_to_memory(&image, file.data(), &bytes,
                                /*convert_to_8_bit=*/0, pixels.data(),
                                /*row_stride=*/0, /*colormap=*/nullptr);
  file.resize(isWritten ? bytes : 0);
  return file;
}

} // namespace mp
