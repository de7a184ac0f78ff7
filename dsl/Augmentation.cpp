//===- Augmentation.cpp - samples that training varies --------------------===//
#include "dsl/Augmentation.h"
#include "dsl/Pixels.h"
#include <cmath>
#include <numbers>

namespace mantissa {

static Tensor refuse(const Operand &input, const std::string &function,
                     const std::string &what) {
  return Graph::of(input.tensor)
      .mistake(function + " on " + input.tensor.type() + ": " + what,
               input.place);
}

/// Whether a function may go on: these are images.
static bool areImages(const Operand &input, const std::string &function) {
  if (!input.tensor)
    return false;
  if (input.tensor.rank() == 4 && arePixels(input.tensor))
    return true;
  refuse(input, function,
         "expected [batch, height, width, channels] of bytes or floats");
  return false;
}

static bool isProbability(double number) { return number >= 0 && number <= 1; }

//===----------------------------------------------------------------------===//
// Numbers of images
//===----------------------------------------------------------------------===//

/// Draws one number in [low, high) for each image.
static Tensor draw(const Operand &images, double low, double high) {
  return uniform({Graph::of(images.tensor), images.place},
                 {F32, {images.tensor.size(0)}}, {.low = low, .high = high});
}
/// The same number for each image.
static Tensor same(const Operand &images, double number,
                   ElementType element = F32) {
  Context context(Graph::of(images.tensor), images.place);
  return broadcast(constant(context, number, element), {images.tensor.size(0)});
}

//===----------------------------------------------------------------------===//
// Places of pixels
//===----------------------------------------------------------------------===//

Tensor randomCrop(const Operand &images, const RandomCrop &crop) {
  if (!areImages(images, "randomCrop"))
    return {};
  if (crop.padding < 0 || !isProbability(crop.flip))
    return refuse(images, "randomCrop",
                  "expected a padding that is not negative and a flip from 0 "
                  "to 1");
  auto distance = [&] {
    if (crop.padding == 0)
      return same(images, 0, I32);
    return cast(
        floor(draw(images, double(-crop.padding), double(crop.padding + 1))),
        I32);
  };
  Tensor mirrored;
  if (crop.flip > 0)
    mirrored = draw(images, 0, 1) < crop.flip;
  Tensor rows = distance(), columns = distance();
  return augmentImages(images, rows, columns, {.mirrored = mirrored});
}

/// The largest box in the middle that has the ratio of the result.
static Tensor centerCrop(const Operand &images, const RandomResizedCrop &crop) {
  auto [height, width] = crop.size;
  double tall = images.tensor.size(1), wide = images.tensor.size(2);
  if (tall == height && wide == width && crop.center == 1)
    return images.tensor;
  double scale =
      crop.center * std::min(tall / double(height), wide / double(width));
  double boxHeight = scale * double(height), boxWidth = scale * double(width);
  return cropResize(
      images, same(images, std::nearbyint((tall - boxHeight) / 2)),
      same(images, std::nearbyint((wide - boxWidth) / 2)),
      same(images, boxHeight), same(images, boxWidth), {height, width});
}

namespace {
/// The area of each image's box as a share of the image, and the logarithm of
/// its width / height.
struct Form {
  Tensor share, ratio;
};
struct Box {
  Tensor top, left, height, width;
};
} // namespace

/// How often a box is drawn again before one is made to fit.
constexpr int kTries = 3;

static Form drawForm(const Operand &images, const RandomResizedCrop &crop) {
  double square =
      std::log(double(images.tensor.size(2)) / double(images.tensor.size(1)));
  double least = std::log(crop.minRatio), most = std::log(crop.maxRatio);
  auto drawShare = [&] { return draw(images, crop.minArea, crop.maxArea); };
  // The ratios of boxes that have an area and lie in the image.
  auto lowest = [&](const Tensor &share) { return log(share) + square; };
  auto highest = [&](const Tensor &share) { return square - log(share); };
  Tensor share = drawShare();
  Tensor low = maximum(lowest(share), least),
         high = minimum(highest(share), most);
  Tensor ratio = low + draw(images, 0, 1) * (high - low);
  for (int i = 0; i < kTries; ++i) {
    Tensor other = drawShare();
    Tensor drawn = draw(images, 0, 1) * (most - least) + least;
    Tensor fits = logicalAnd(drawn >= lowest(other), drawn <= highest(other));
    share = select(fits, other, share);
    ratio = select(fits, drawn, ratio);
  }
  return {share, ratio};
}

/// Draws boxes of whole pixels, each of which ends within its image.
static Box drawBox(const Operand &images, const RandomResizedCrop &crop) {
  double tall = double(images.tensor.size(1)),
         wide = double(images.tensor.size(2));
  auto [share, ratio] = drawForm(images, crop);
  Tensor side = sqrt(share * (tall * wide)), half = exp(ratio * 0.5);
  auto whole = [](const Tensor &length, double most) {
    return clamp(floor(length + 0.5), {.min = 1, .max = most});
  };
  auto begin = [&](const Tensor &length, double most) {
    return floor(draw(images, 0, 1) * (most + 1 - length));
  };
  Tensor height = whole(side / half, tall), width = whole(side * half, wide);
  return {begin(height, tall), begin(width, wide), height, width};
}

Tensor randomResizedCrop(const Operand &images, const RandomResizedCrop &crop) {
  if (!areImages(images, "randomResizedCrop"))
    return {};
  if (!(crop.minArea > 0 && crop.minArea <= crop.maxArea && crop.maxArea <= 1))
    return refuse(images, "randomResizedCrop",
                  "expected areas from above 0 to 1, the smaller one first");
  if (!(crop.minRatio > 0 && crop.minRatio <= crop.maxRatio))
    return refuse(images, "randomResizedCrop",
                  "expected ratios above 0, the smaller one first");
  if (!(crop.center > 0 && crop.center <= 1))
    return refuse(images, "randomResizedCrop",
                  "expected a center from above 0 to 1");
  Box box = drawBox(images, crop);
  return inTraining(cropResize(images, box.top, box.left, box.height, box.width,
                               {crop.size.height, crop.size.width}),
                    centerCrop(images, crop));
}

//===----------------------------------------------------------------------===//
// Samples mixed with others
//===----------------------------------------------------------------------===//

Tensor symmetricBeta(const Context &context, double alpha, const Dims &shape) {
  auto number = [&] { return uniform(context, {F32, shape}); };
  if (!(alpha > 0))
    return context.graph.mistake("symmetricBeta: alpha is " +
                                     std::to_string(alpha) +
                                     ", expected a number above 0",
                                 context.place);
  if (alpha == 1)
    return number();
  // A t variable with 2 alpha degrees of freedom, mapped to (0, 1), in a form
  // that no power overflows in.
  Tensor power = exp(log(1 - number()) / alpha);
  Tensor turn = cos(number() * (2 * std::numbers::pi));
  Tensor left = 1 - power;
  Tensor part = turn * sqrt(left / (power + left * turn * turn));
  return clamp((part + 1) * 0.5, {.min = 0, .max = 1});
}

namespace {
/// The samples that are mixed in, and how.
class Mixer {
public:
  Mixer(const Operand &images, const Operand &labels, const Mix &mix)
      : net(Graph::of(images.tensor)), place(images.place),
        images(images.tensor), labels(labels.tensor), mix(mix) {
    // From the last sample to the first.
    Tensor ones = same(images, 1, I32);
    Tensor reversed = cumsum(ones, 0, {.reverse = true}) - 1;
    partners = gather(images, reversed, 0);
    others = gather(labels, reversed, 0);
  }

  MixedSamples operator()() {
    auto [mixed, share] = mix.mixup > 0 ? blended() : cut();
    if (mix.mixup > 0 && mix.cutmix > 0) {
      auto [pasted, rest] = cut();
      Tensor chosen = uniform({net, place}, {F32, {}}) < mix.switching;
      mixed = select(chosen, pasted, mixed);
      share = select(chosen, rest, share);
    }
    return {inTraining(mixed, images), labels, others,
            inTraining(share, constant({net, place}, 1))};
  }

private:
  struct Samples {
    Tensor images, share;
  };

  Samples blended() {
    Tensor share = symmetricBeta({net, place}, mix.mixup);
    Tensor sum = cast(images, F32) * share + cast(partners, F32) * (1 - share);
    return {toPixels(sum, images), share};
  }

  /// Whether a row or a column, along dimension `dim`, is in the box; how many
  /// are.
  std::pair<Tensor, Tensor> inside(int64_t dim, const Tensor &half) {
    int64_t length = images.size(dim);
    Context context(net, place);
    Tensor middle =
        floor(uniform(context, {F32, {}}, {.high = double(length)}));
    Tensor reach = floor(half * double(length));
    Tensor first = maximum(middle - reach, 0),
           last = minimum(middle + reach, double(length));
    std::vector<double> numbers(length);
    for (int64_t i = 0; i < length; ++i)
      numbers[i] = double(i);
    Tensor at = constant(context, numbers,
                         dim == 1 ? Dims{length, 1, 1} : Dims{length, 1});
    return {logicalAnd(at >= first, at < last), last - first};
  }

  /// Takes the pixels of the partners where a box is, [height, width, 1].
  /// Images are rows for this, and the box is one row: kernels are fastest on
  /// two dimensions.
  Tensor pasted(const Tensor &box) {
    Dims shape{images.size(1), images.size(2), images.size(3)};
    int64_t pixels = shape[0] * shape[1] * shape[2];
    Dims flat{images.size(0), pixels};
    Tensor chosen = select(reshape(broadcast(box, shape), {pixels}),
                           reshape(partners, flat), reshape(images, flat));
    return reshape(chosen, images.shape());
  }

  Samples cut() {
    Tensor half = sqrt(1 - symmetricBeta({net, place}, mix.cutmix)) * 0.5;
    auto [rows, height] = inside(1, half);
    auto [columns, width] = inside(2, half);
    double area = double(images.size(1) * images.size(2));
    return {pasted(logicalAnd(rows, columns)), 1 - height * width / area};
  }

  Graph &net;
  Place place;
  Tensor images, labels, partners, others;
  Mix mix;
};
} // namespace

MixedSamples mixSamples(const Operand &images, const Operand &labels,
                        const Mix &mix) {
  if (!areImages(images, "mixSamples") || !labels.tensor)
    return {};
  if (!(mix.mixup >= 0 && mix.cutmix >= 0 && mix.mixup + mix.cutmix > 0) ||
      !isProbability(mix.switching)) {
    refuse(images, "mixSamples",
           "expected an alpha above 0 for mixup or for cutmix, and a switching "
           "from 0 to 1");
    return {};
  }
  return Mixer(images, labels, mix)();
}

Tensor MixedSamples::loss(const Operand &logits,
                          const CrossEntropyOptions &options) const {
  if (!logits.tensor || !share)
    return {};
  Tensor own = crossEntropy(logits, labels, options);
  Tensor other = crossEntropy(logits, others, options);
  Tensor part = cast(share, own.element());
  return inTraining(own * part + other * (1 - part), own);
}

} // namespace mantissa
