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

class Jitter {
public:
  Jitter(const Operand &images, const ColorJitter &jitter)
      : images(images.tensor), place(images.place), jitter(jitter) {}

  Tensor operator()() {
    Planes planes = split();
    if (jitter.brightness > 0) {
      Tensor factor = drawFactor(jitter.brightness);
      for (Tensor &plane : planes)
        plane = bounded(plane * factor);
    }
    if (jitter.contrast > 0)
      blend(planes, mean(grey(planes), {1, 2, 3}, {.keepdim = true}),
            drawFactor(jitter.contrast));
    if (jitter.saturation > 0 && planes.size() == 3)
      blend(planes, grey(planes), drawFactor(jitter.saturation));
    if (jitter.hue > 0 && planes.size() == 3)
      turn(planes, draw(-jitter.hue, jitter.hue));
    return inTraining(join(planes), images);
  }

private:
  /// Draws a number for each image.
  Tensor draw(double low, double high) {
    Tensor numbers =
        uniform({Graph::of(images), place}, {F32, {images.size(0)}},
                {.low = low, .high = high});
    return reshape(numbers, {images.size(0), 1, 1, 1});
  }
  Tensor drawFactor(double most) {
    return draw(std::max(0.0, 1 - most), 1 + most);
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
  Place place;
  ColorJitter jitter;
};
} // namespace

Tensor colorJitter(const Operand &images, const ColorJitter &jitter) {
  if (!images.tensor)
    return images.tensor;
  auto refuse = [&](const std::string &what) {
    return Graph::of(images.tensor)
        .mistake("colorJitter on " + images.tensor.type() + ": " + what,
                 images.place);
  };
  if (images.tensor.rank() != 4 ||
      (images.tensor.size(3) != 1 && images.tensor.size(3) != 3))
    return refuse("expected [batch, height, width, 1 or 3]");
  if (!(jitter.brightness >= 0 && jitter.contrast >= 0 &&
        jitter.saturation >= 0))
    return refuse("expected numbers that are not negative");
  if (!(jitter.hue >= 0 && jitter.hue <= 0.5))
    return refuse("expected a hue from 0 to 0.5");
  return Jitter(images, jitter)();
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
