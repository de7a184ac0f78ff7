//===- ConvolutionCase.h - convolutions, and sums in double -----*- C++ -*-===//
//
// The sums are loops over all terms, written from the definition alone.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_CONVOLUTIONCASE_H
#define MP_TEST_UNIT_CONVOLUTIONCASE_H

#include "GoldenFunction.h"
#include "codegen/cuda/contraction/TunePlan.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <numeric>

namespace mp::test {

/// The three ops of one convolution.
enum class Convolution { Forward, BackwardInput, BackwardWeight };

/// A convolution; the functions that follow the constructor change it.
struct ConvolutionCase {
  /// `input` is [images, height, width, channels], `weight` [channels, height,
  /// width]; "tf32" is f32.
  ConvolutionCase(const char *type, std::array<int64_t, 4> input,
                  std::array<int64_t, 3> weight)
      : type(type), images(input[0]), size{input[1], input[2]},
        inputs(input[3]), outputs(weight[0]), window{weight[1], weight[2]} {}
  ConvolutionCase strided(int64_t y, int64_t x) const {
    return with(&ConvolutionCase::strides, {y, x});
  }
  ConvolutionCase padded(int64_t lowY, int64_t lowX, int64_t highY,
                         int64_t highX) const {
    return with(&ConvolutionCase::low, {lowY, lowX})
        .with(&ConvolutionCase::high, {highY, highX});
  }
  ConvolutionCase padded(int64_t all) const {
    return padded(all, all, all, all);
  }
  ConvolutionCase dilated(int64_t y, int64_t x) const {
    return with(&ConvolutionCase::dilations, {y, x});
  }
  ConvolutionCase grouped(int64_t count) const {
    ConvolutionCase changed = *this;
    changed.groups = count;
    return changed;
  }
  /// By products of this config, whose text has no splits, and so many splits.
  ConvolutionCase by(const char *configText, int count = 1) const {
    ConvolutionCase changed = *this;
    changed.config = configText;
    changed.splits = count;
    return changed;
  }

  const char *type;
  int64_t images;
  std::array<int64_t, 2> size; ///< height and width of the input
  int64_t inputs, outputs, groups = 1;
  std::array<int64_t, 2> window, strides = {1, 1}, low = {0, 0}, high = {0, 0},
                                 dilations = {1, 1};
  const char *config = ""; ///< "" is any
  int splits = 1;

  int64_t places(int dim) const {
    int64_t span = (window[dim] - 1) * dilations[dim] + 1;
    return (size[dim] + low[dim] + high[dim] - span) / strides[dim] + 1;
  }
  int64_t inputCount() const { return images * size[0] * size[1] * inputs; }
  int64_t weightCount() const {
    return outputs * window[0] * window[1] * (inputs / groups);
  }
  int64_t outputCount() const {
    return images * places(0) * places(1) * outputs;
  }
  ElementType element() const {
    return isTf32() ? ElementType::F32 : *parseElementType(type);
  }
  bool isTf32() const { return llvm::StringRef(type) == "tf32"; }

  std::string tensor(llvm::ArrayRef<int64_t> shape) const {
    return "tensor<" + TensorType{element(), shape.vec()}.str() + ">";
  }
  std::string inputType() const {
    return tensor({images, size[0], size[1], inputs});
  }
  std::string weightType() const {
    return tensor({outputs, window[0], window[1], inputs / groups});
  }
  std::string outputType() const {
    return tensor({images, places(0), places(1), outputs});
  }
  ConvolutionCase with(std::array<int64_t, 2> ConvolutionCase::*list,
                       std::array<int64_t, 2> numbers) const {
    ConvolutionCase changed = *this;
    changed.*list = numbers;
    return changed;
  }
  /// Returns the attributes of the ops, in order.
  std::string attributes() const {
    auto two = [](const char *name, const std::array<int64_t, 2> &list) {
      return llvm::formatv(" {0}[{1}, {2}]", name, list[0], list[1]).str();
    };
    return two("strides", strides) + two("low", low) + two("high", high) +
           two("dilations", dilations) +
           llvm::formatv(" groups({0})", groups).str() +
           (isTf32() ? " {compute = tf32}" : "");
  }

  /// Calls `term(input, weight, output)` with the indices of every term.
  template <typename Term> void forEachTerm(Term term) const {
    int64_t in = inputs / groups, out = outputs / groups;
    for (int64_t image = 0; image < images; ++image)
      for (int64_t p = 0; p < places(0); ++p)
        for (int64_t q = 0; q < places(1); ++q)
          for (int64_t r = 0; r < window[0]; ++r)
            for (int64_t s = 0; s < window[1]; ++s) {
              int64_t y = p * strides[0] + r * dilations[0] - low[0];
              int64_t x = q * strides[1] + s * dilations[1] - low[1];
              if (y < 0 || y >= size[0] || x < 0 || x >= size[1])
                continue;
              for (int64_t o = 0; o < outputs; ++o)
                for (int64_t c = 0; c < in; ++c)
                  term(((image * size[0] + y) * size[1] + x) * inputs +
                           o / out * in + c,
                       ((o * window[0] + r) * window[1] + s) * in + c,
                       ((image * places(0) + p) * places(1) + q) * outputs + o);
            }
  }

  /// Returns the result of an op for its two operands.
  Numbers sums(Convolution op, const Numbers &a, const Numbers &b) const {
    Numbers result(op == Convolution::Forward         ? outputCount()
                   : op == Convolution::BackwardInput ? inputCount()
                                                      : weightCount());
    forEachTerm([&](int64_t input, int64_t weight, int64_t output) {
      if (op == Convolution::Forward)
        result[output] += a[input] * b[weight];
      else if (op == Convolution::BackwardInput)
        result[input] += a[output] * b[weight];
      else
        result[weight] += a[output] * b[input];
    });
    return result;
  }

  /// Returns the product that an op is, for a plan.
  cuda::GemmShape product(Convolution op) const {
    cuda::GemmShape shape;
    shape.type = element(), shape.tf32 = isTf32(), shape.batch = groups;
    int64_t pixels = images * places(0) * places(1);
    int64_t elements = window[0] * window[1] * (inputs / groups);
    shape.m = pixels, shape.n = outputs / groups, shape.k = elements;
    shape.transposeB = op == Convolution::Forward;
    shape.transposeA = op == Convolution::BackwardWeight;
    if (op == Convolution::BackwardWeight) {
      std::swap(shape.m, shape.k); // elements, outputs, pixels
      std::swap(shape.m, shape.n);
    } else if (op == Convolution::BackwardInput) {
      shape.m = images, shape.n = inputs / groups, shape.k = outputs / groups;
      for (int dim : {0, 1}) {
        shape.batch *= std::min(strides[dim], size[dim]);
        shape.m *= llvm::divideCeil(size[dim], strides[dim]);
        int64_t apart = strides[dim] / std::gcd(strides[dim], dilations[dim]);
        shape.k *= llvm::divideCeil(window[dim], apart);
      }
    }
    return shape;
  }

  /// Returns a module whose function @f is an op of two operands.
  std::string module(Convolution op) const {
    std::string a = outputType(), b = weightType(), result = inputType(), name;
    auto sized = [](const char *mnemonic, const std::array<int64_t, 2> &size) {
      return llvm::formatv("{0} %a, %b size[{1}, {2}]", mnemonic, size[0],
                           size[1])
          .str();
    };
    switch (op) {
    case Convolution::Forward:
      name = "conv2d %a, %b";
      std::swap(a, result);
      break;
    case Convolution::BackwardInput:
      name = sized("conv2d_backward_input", size);
      break;
    case Convolution::BackwardWeight:
      name = sized("conv2d_backward_weight", window);
      std::swap(b, result);
      break;
    }
    return "func.func @f(%a: " + a + ", %b: " + b + ") -> " + result +
           " {\n  %c = mp." + name + attributes() + " : " + a + ", " + b +
           "\n  return %c : " + result + "\n}\n";
  }

  /// Returns a plan with a config for an op.
  std::string planBy(const cuda::GemmConfig &chosen, Convolution op,
                     llvm::StringRef arch) const {
    cuda::TunePlan plan{llvm::cantFail(cuda::Arch::get(arch)), {}};
    plan.choices["gemm " + product(op).str()] = {chosen};
    return plan.str();
  }

  /// Returns a plan with the case's config for an op, with fewer splits if k is
  /// short.
  std::string plan(Convolution op, llvm::StringRef arch = "sm_80") const {
    if (!*config)
      return "";
    cuda::GemmShape shape = product(op);
    cuda::GemmConfig chosen = llvm::cantFail(cuda::GemmConfig::parse(
        llvm::formatv("{0} splits {1}", config, splits).str()));
    while (chosen.splits > 1 &&
           !cuda::whyNot(shape, chosen, llvm::cantFail(cuda::Arch::get(arch)))
                .empty())
      --chosen.splits;
    return planBy(chosen, op, arch);
  }
};

inline void PrintTo(const ConvolutionCase &one, std::ostream *os) {
  *os << one.inputType() << ", " << one.weightType() << one.attributes() << " "
      << one.config << " splits " << one.splits;
}

/// Compiles a module for CUDA.
inline Program compileForCuda(const std::string &text,
                              const std::string &plan) {
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = "cuda";
  if (!plan.empty())
    options.plan = plan;
  auto program = mp::compile(text, options);
  if (program)
    return std::move(*program);
  ADD_FAILURE() << toString(program.takeError()) << "\n" << text;
  return {};
}

} // namespace mp::test

#endif // MP_TEST_UNIT_CONVOLUTIONCASE_H
