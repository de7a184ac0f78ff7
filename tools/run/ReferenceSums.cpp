//===- ReferenceSums.cpp - elements of products, summed in double ---------===//
#include "tools/run/ReferenceSums.h"

using namespace mp::cuda;

namespace mp::tool {

static double at(const GemmShape &shape, int64_t place, Elements a,
                 Elements b) {
  int64_t batch = place / (shape.m * shape.n), row = place / shape.n % shape.m,
          column = place % shape.n;
  int64_t x = shape.broadcastA ? 0 : batch * shape.m * shape.k;
  int64_t y = shape.broadcastB ? 0 : batch * shape.k * shape.n;
  double sum = 0;
  for (int64_t k = 0; k < shape.k; ++k)
    sum +=
        a(x + (shape.transposeA ? k * shape.m + row : row * shape.k + k)) *
        b(y + (shape.transposeB ? column * shape.k + k : k * shape.n + column));
  return sum;
}

namespace {
/// Places in memory of a convolution's tensors.
struct Tensors {
  const ConvolutionSizes &s;

  int64_t input(int64_t image, int64_t y, int64_t x, int64_t channel) const {
    return ((image * s.input[0] + y) * s.input[1] + x) * (s.groups * s.inputs) +
           channel;
  }
  int64_t output(int64_t image, int64_t p, int64_t q, int64_t channel) const {
    return ((image * s.output(0) + p) * s.output(1) + q) *
               (s.groups * s.outputs) +
           channel;
  }
  int64_t weight(int64_t out, int64_t r, int64_t t, int64_t in) const {
    return ((out * s.window[0] + r) * s.window[1] + t) * s.inputs + in;
  }
  /// The pixel under element `tap` of a window at `at`.
  int64_t pixel(int dim, int64_t at, int64_t tap) const {
    return at * s.strides[dim] + tap * s.dilations[dim] - s.low[dim];
  }
  bool has(int64_t y, int64_t x) const {
    return y >= 0 && y < s.input[0] && x >= 0 && x < s.input[1];
  }
};
} // namespace

/// Calls `term(r, t)` for each element of the window.
template <typename Term>
static void forTaps(const ConvolutionSizes &s, Term term) {
  for (int64_t r = 0; r < s.window[0]; ++r)
    for (int64_t t = 0; t < s.window[1]; ++t)
      term(r, t);
}

static double forward(const ConvolutionSizes &s, int64_t place, Elements input,
                      Elements weight) {
  Tensors in{s};
  int64_t channels = s.groups * s.outputs, out = place % channels;
  int64_t q = place / channels % s.output(1),
          p = place / channels / s.output(1) % s.output(0),
          image = place / channels / s.output(1) / s.output(0);
  double sum = 0;
  forTaps(s, [&](int64_t r, int64_t t) {
    int64_t y = in.pixel(0, p, r), x = in.pixel(1, q, t);
    for (int64_t i = 0; in.has(y, x) && i < s.inputs; ++i)
      sum += input(in.input(image, y, x, out / s.outputs * s.inputs + i)) *
             weight(in.weight(out, r, t, i));
  });
  return sum;
}

static double backwardInput(const ConvolutionSizes &s, int64_t place,
                            Elements gradient, Elements weight) {
  Tensors in{s};
  int64_t channels = s.groups * s.inputs, channel = place % channels;
  int64_t x = place / channels % s.input[1],
          y = place / channels / s.input[1] % s.input[0],
          image = place / channels / s.input[1] / s.input[0];
  double sum = 0;
  forTaps(s, [&](int64_t r, int64_t t) {
    // The place of the window that has the pixel under this element.
    int64_t p = y + s.low[0] - r * s.dilations[0],
            q = x + s.low[1] - t * s.dilations[1];
    if (p % s.strides[0] || q % s.strides[1])
      return;
    p /= s.strides[0], q /= s.strides[1];
    if (p < 0 || p >= s.output(0) || q < 0 || q >= s.output(1))
      return;
    int64_t first = channel / s.inputs * s.outputs;
    for (int64_t out = first; out < first + s.outputs; ++out)
      sum += gradient(in.output(image, p, q, out)) *
             weight(in.weight(out, r, t, channel % s.inputs));
  });
  return sum;
}

static double backwardWeight(const ConvolutionSizes &s, int64_t place,
                             Elements gradient, Elements input) {
  Tensors in{s};
  int64_t i = place % s.inputs, t = place / s.inputs % s.window[1],
          r = place / s.inputs / s.window[1] % s.window[0],
          out = place / s.inputs / s.window[1] / s.window[0];
  double sum = 0;
  for (int64_t image = 0; image < s.images; ++image)
    for (int64_t p = 0; p < s.output(0); ++p)
      for (int64_t q = 0; q < s.output(1); ++q)
        if (int64_t y = in.pixel(0, p, r), x = in.pixel(1, q, t); in.has(y, x))
          sum += gradient(in.output(image, p, q, out)) *
                 input(in.input(image, y, x, out / s.outputs * s.inputs + i));
  return sum;
}

static double at(const ConvolutionSizes &sizes, int64_t place, Elements a,
                 Elements b) {
  switch (sizes.kind) {
  case ConvolutionSizes::Kind::Forward:
    return forward(sizes, place, a, b);
  case ConvolutionSizes::Kind::BackwardInput:
    return backwardInput(sizes, place, a, b);
  case ConvolutionSizes::Kind::BackwardWeight:
    return backwardWeight(sizes, place, a, b);
  }
  llvm_unreachable("all kinds are handled");
}

double referenceAt(const TunedShape &shape, int64_t place, Elements a,
                   Elements b) {
  return std::visit([&](const auto &one) { return at(one, place, a, b); },
                    shape);
}

} // namespace mp::tool
