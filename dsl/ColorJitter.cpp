//===- ColorJitter.cpp - colours that training varies ---------------------===//
//
// A colour is three planes [batch, height, width, 1], so that each step is
// elementwise on them; steps are joined into one kernel.
//
//===----------------------------------------------------------------------===//
#include "dsl/Augmentation.h"
#include "dsl/Pixels.h"
#include <tuple>

namespace mantissa {

namespace {
/// Planes of f32: red, green and blue, or grey alone.
using Planes = std::vector<Tensor>;

class Adjustment {
public:
  Adjustment(const Operand &images) : images(images.tensor) {}

  Tensor operator()(const ColorFactors &factors) {
    Planes planes = split();
    bool isColored = planes.size() == 3;
    if (factors.brightness)
      for (Tensor &plane : planes)
        plane = bounded(plane * ofImages(factors.brightness));
    if (factors.contrast)
      blend(planes, mean(grey(planes), {1, 2, 3}, {.keepdim = true}),
            ofImages(factors.contrast));
    if (factors.saturation && isColored)
      blend(planes, grey(planes), ofImages(factors.saturation));
    if (factors.hue && isColored)
      turn(planes, ofImages(factors.hue));
    return join(planes);
  }

private:
  Tensor ofImages(const Tensor &numbers) {
    return reshape(numbers, {images.size(0), 1, 1, 1});
  }
  Tensor bounded(const Tensor &plane) {
    return clamp(plane, {.min = 0, .max = whiteOf(images)});
  }

  Planes split() {
    int64_t channels = images.size(3);
    Planes planes;
    for (int64_t i = 0; i < channels; ++i)
      planes.push_back(cast(
          channels == 1 ? images : slice(images, {0, 0, 0, i}, {-1, -1, -1, 1}),
          F32));
    return planes;
  }
  Tensor join(const Planes &planes) {
    std::vector<Tensor> pixels;
    for (const Tensor &plane : planes)
      pixels.push_back(toPixels(plane, images));
    return pixels.size() == 1 ? pixels[0] : concat(pixels, 3);
  }

  /// The luma of ITU-R BT.601.
  static Tensor grey(const Planes &planes) {
    if (planes.size() == 1)
      return planes[0];
    return planes[0] * 0.2989 + planes[1] * 0.587 + planes[2] * 0.114;
  }

  /// factor * plane + (1 - factor) * other.
  void blend(Planes &planes, const Tensor &other, const Tensor &factor) {
    Tensor rest = other * (1 - factor);
    for (Tensor &plane : planes)
      plane = bounded(plane * factor + rest);
  }

  /// Turns the hue of HSV by a part of a circle. The hue counts sixths of the
  /// circle from red; a channel is the value less its distance from the hue
  /// times the chroma (Smith, "Color Gamut Transform Pairs", 1978).
  static void turn(Planes &planes, const Tensor &part) {
    auto [red, green, blue] = std::tie(planes[0], planes[1], planes[2]);
    Tensor value = maximum(maximum(red, green), blue);
    Tensor chroma = value - minimum(minimum(red, green), blue);
    Tensor divisor = select(chroma > 0, chroma, 1);
    auto is = [&](const Tensor &channel) {
      return compare(value, channel, Comparison::eq);
    };
    Tensor hue = select(is(red), (green - blue) / divisor,
                        select(is(green), (blue - red) / divisor + 2,
                               (red - green) / divisor + 4));
    hue = hue + part * 6;
    auto channel = [&](double begin) {
      Tensor at = hue + begin;
      at = at - floor(at / 6) * 6;
      Tensor lack = clamp(minimum(at, 4 - at), {.min = 0, .max = 1});
      return value - chroma * lack;
    };
    planes = {channel(5), channel(3), channel(1)};
  }

  Tensor images;
};

Tensor refuse(const Operand &images, const std::string &what) {
  return Graph::of(images.tensor)
      .mistake("colours of " + images.tensor.type() + ": " + what,
               images.place);
}
} // namespace

Tensor adjustColors(const Operand &images, const ColorFactors &factors) {
  if (!images.tensor)
    return images.tensor;
  if (images.tensor.rank() != 4 || !arePixels(images.tensor) ||
      (images.tensor.size(3) != 1 && images.tensor.size(3) != 3))
    return refuse(images,
                  "expected [batch, height, width, 1 or 3] of bytes or floats");
  for (const Tensor &numbers :
       {factors.brightness, factors.contrast, factors.saturation, factors.hue})
    if (numbers && (numbers.element() != F32 ||
                    numbers.shape() != Dims{images.tensor.size(0)}))
      return refuse(images, "expected a factor of f32 for each image, not " +
                                numbers.type());
  return Adjustment(images)(factors);
}

Tensor colorJitter(const Operand &images, const ColorJitter &jitter) {
  if (!images.tensor)
    return images.tensor;
  if (!(jitter.brightness >= 0 && jitter.contrast >= 0 &&
        jitter.saturation >= 0))
    return refuse(images, "expected numbers that are not negative");
  if (!(jitter.hue >= 0 && jitter.hue <= 0.5))
    return refuse(images, "expected a hue from 0 to 0.5");
  if (images.tensor.rank() == 0)
    return adjustColors(images, {});
  auto draw = [&](double middle, double most) {
    if (most == 0)
      return Tensor();
    return uniform({Graph::of(images.tensor), images.place},
                   {F32, {images.tensor.size(0)}},
                   {.low = middle > 0 ? std::max(0.0, middle - most) : -most,
                    .high = middle + most});
  };
  ColorFactors factors{.brightness = draw(1, jitter.brightness),
                       .contrast = draw(1, jitter.contrast),
                       .saturation = draw(1, jitter.saturation),
                       .hue = draw(0, jitter.hue)};
  Tensor adjusted = adjustColors(images, factors);
  return adjusted ? inTraining(adjusted, images) : adjusted;
}

Tensor normalizeImages(const Operand &images, const std::vector<double> &mean,
                       const std::vector<double> &deviation) {
  if (!images.tensor)
    return images.tensor;
  Graph &net = Graph::of(images.tensor);
  size_t channels = images.tensor.rank() ? images.tensor.size(-1) : 0;
  auto numbers = [&](const std::vector<double> &values) {
    Context context(net, images.place);
    return values.size() == 1
               ? constant(context, values[0])
               : constant(context, values, Dims{int64_t(values.size())});
  };
  for (const std::vector<double> *values : {&mean, &deviation})
    if (values->size() != 1 && values->size() != channels)
      return net.mistake("normalizeImages on " + images.tensor.type() + ": " +
                             std::to_string(values->size()) +
                             " numbers for its channels",
                         images.place);
  Tensor x = cast(images, F32);
  if (images.tensor.element() == U8)
    x = x / 255;
  return (x - numbers(mean)) / numbers(deviation);
}

} // namespace mantissa
