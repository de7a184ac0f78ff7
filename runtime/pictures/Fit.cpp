//===- Fit.cpp - pictures scaled and cropped ------------------------------===//
#include "runtime/pictures/Picture.h"
#include <algorithm>
#include <cmath>

namespace mp {
namespace {

/// The elements of a row or column that an element of the result is the mean
/// of, and their weights in units of 2^-22, which leaves a sum of bytes 31
/// bits.
struct Window {
  int64_t first = 0;
  std::vector<int32_t> weights;
};
constexpr unsigned kWeightBits = 22;

/// The windows of the results [first, first + count) of a scaling of `from`
/// elements to `to`: triangles about the centres, as wide as the distance of
/// two results, but no narrower than that of two elements.
std::vector<Window> windows(int64_t from, int64_t to, int64_t first,
                            int64_t count) {
  double scale = double(from) / to, reach = std::max(scale, 1.0);
  std::vector<Window> all(count);
  for (int64_t i = 0; i < count; ++i) {
    double centre = (first + i + 0.5) * scale;
    int64_t low = std::max<int64_t>(int64_t(centre - reach + 0.5), 0);
    int64_t high = std::min<int64_t>(int64_t(centre + reach + 0.5), from);
    std::vector<double> weights;
    double sum = 0;
    for (int64_t at = low; at < high; ++at) {
      double distance = std::abs((at - centre + 0.5) / reach);
      weights.push_back(std::max(1 - distance, 0.0));
      sum += weights.back();
    }
    all[i].first = low;
    for (double weight : weights)
      all[i].weights.push_back(std::lround(weight / sum * (1 << kWeightBits)));
  }
  return all;
}

uint8_t toByte(int32_t sum) { return std::clamp(sum >> kWeightBits, 0, 255); }

/// Scales each row, of pixels of `channels` bytes, to one pixel for each
/// window.
std::vector<uint8_t> scaleRows(const uint8_t *pixels, int64_t width,
                               int64_t rows, int64_t channels,
                               const std::vector<Window> &columns) {
  std::vector<uint8_t> result(channels * rows * columns.size());
  uint8_t *to = result.data();
  for (int64_t row = 0; row < rows; ++row, pixels += channels * width)
    for (const Window &column : columns)
      for (int64_t channel = 0; channel < channels; ++channel) {
        const uint8_t *from = pixels + channels * column.first + channel;
        int32_t sum = 1 << (kWeightBits - 1);
        for (size_t i = 0; i < column.weights.size(); ++i)
          sum += from[channels * i] * column.weights[i];
        *to++ = toByte(sum);
      }
  return result;
}

/// Scales each column of bytes to one byte for each window. `pixels` begins
/// with row `firstRow`.
void scaleColumns(const std::vector<uint8_t> &pixels, int64_t rowBytes,
                  int64_t firstRow, const std::vector<Window> &rows,
                  uint8_t *to) {
  for (const Window &row : rows)
    for (int64_t byte = 0; byte < rowBytes; ++byte) {
      const uint8_t *from =
          pixels.data() + (row.first - firstRow) * rowBytes + byte;
      int32_t sum = 1 << (kWeightBits - 1);
      for (size_t i = 0; i < row.weights.size(); ++i)
        sum += from[i * rowBytes] * row.weights[i];
      *to++ = toByte(sum);
    }
}

/// The luma of each pixel, with the weights 0.299, 0.587 and 0.114 in units of
/// 2^-16.
std::vector<uint8_t> lumaOf(const std::vector<uint8_t> &pixels) {
  std::vector<uint8_t> result(pixels.size() / 3);
  for (size_t i = 0; i < result.size(); ++i) {
    const uint8_t *pixel = pixels.data() + 3 * i;
    result[i] =
        (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16;
  }
  return result;
}

/// The size of a side of the scaled picture whose other side fits exactly.
int64_t longSide(int64_t side, int64_t wanted, int64_t other) {
  return wanted * side / other;
}

/// Where the middle begins: halves are rounded to even numbers, as Python does.
int64_t middle(int64_t size, int64_t part) {
  return std::lrint((size - part) / 2.0);
}

} // namespace

void fitPicture(const Picture &picture, int64_t height, int64_t width,
                int64_t channels, uint8_t *to) {
  std::vector<uint8_t> luma;
  if (channels == 1)
    luma = lumaOf(picture.pixels);
  const std::vector<uint8_t> &pixels = channels == 1 ? luma : picture.pixels;
  if (picture.height == height && picture.width == width) {
    std::copy(pixels.begin(), pixels.end(), to);
    return;
  }
  // The side that is shorter beside what it has to cover fits exactly.
  bool rowsFit = picture.height * width <= picture.width * height;
  int64_t scaledHeight =
      rowsFit ? height : longSide(picture.height, width, picture.width);
  int64_t scaledWidth =
      rowsFit ? longSide(picture.width, height, picture.height) : width;
  auto columns =
      windows(picture.width, scaledWidth, middle(scaledWidth, width), width);
  auto rows = windows(picture.height, scaledHeight,
                      middle(scaledHeight, height), height);
  int64_t firstRow = rows.front().first;
  int64_t endRow = rows.back().first + rows.back().weights.size();
  std::vector<uint8_t> narrow =
      scaleRows(pixels.data() + channels * firstRow * picture.width,
                picture.width, endRow - firstRow, channels, columns);
  scaleColumns(narrow, channels * width, firstRow, rows, to);
}

} // namespace mp
