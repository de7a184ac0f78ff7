//===- ConvolutionSizes.cpp - a convolution as plain data -----------------===//
#include "codegen/cuda/convolution/ConvolutionSizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mp;
using namespace mp::cuda;
using llvm::divideCeil;

static constexpr llvm::StringLiteral kKinds[] = {"forward", "backward_input",
                                                 "backward_weight"};

llvm::StringRef ConvolutionSizes::kindName() const {
  return kKinds[static_cast<size_t>(kind)];
}

int64_t ConvolutionSizes::output(int dim) const {
  int64_t room = input[dim] + low[dim] + high[dim] - span(dim);
  return room < 0 ? 0 : room / strides[dim] + 1;
}

std::vector<int64_t> ConvolutionSizes::inputSizes() const {
  return {images, input[0], input[1], groups * inputs};
}
std::vector<int64_t> ConvolutionSizes::weightSizes() const {
  return {groups * outputs, window[0], window[1], inputs};
}
std::vector<int64_t> ConvolutionSizes::outputSizes() const {
  return {images, output(0), output(1), groups * outputs};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string sizesText(llvm::ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

/// Reads "1x2x3" into numbers of at least `least`.
static bool readSizes(llvm::StringRef text, int64_t least,
                      llvm::ArrayRef<int64_t *> sizes) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, 'x');
  return words.size() == sizes.size() &&
         llvm::all_of(llvm::zip(words, sizes), [=](auto pair) {
           auto [word, size] = pair;
           return !word.getAsInteger(10, *size) && *size >= least;
         });
}

std::string ConvolutionSizes::str() const {
  std::string name = tf32 ? "tf32" : elementTypeName(type).str();
  return name + " " + kindName().str() + " " + sizesText(inputSizes()) + " " +
         sizesText({groups * outputs, window[0], window[1]}) + " groups " +
         std::to_string(groups) + " strides " + sizesText(strides) + " low " +
         sizesText(low) + " high " + sizesText(high) + " dilations " +
         sizesText(dilations);
}

/// Reads all words but those of type and kind.
static bool readNumbers(llvm::ArrayRef<llvm::StringRef> words,
                        ConvolutionSizes &s) {
  auto pair = [&](size_t at, llvm::StringRef name, int64_t least,
                  std::array<int64_t, 2> &numbers) {
    return words[at] == name &&
           readSizes(words[at + 1], least, {&numbers[0], &numbers[1]});
  };
  int64_t in = 0, out = 0;
  bool good =
      words.size() == 12 &&
      readSizes(words[0], 1, {&s.images, &s.input[0], &s.input[1], &in}) &&
      readSizes(words[1], 1, {&out, &s.window[0], &s.window[1]}) &&
      words[2] == "groups" && readSizes(words[3], 1, {&s.groups}) &&
      pair(4, "strides", 1, s.strides) && pair(6, "low", 0, s.low) &&
      pair(8, "high", 0, s.high) && pair(10, "dilations", 1, s.dilations);
  if (!good || in % s.groups || out % s.groups)
    return false;
  s.inputs = in / s.groups;
  s.outputs = out / s.groups;
  return s.output(0) > 0 && s.output(1) > 0;
}

llvm::Expected<ConvolutionSizes> ConvolutionSizes::parse(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  ConvolutionSizes sizes;
  bool good = words.size() > 2;
  if (good) {
    sizes.tf32 = words[0] == "tf32";
    auto type = sizes.tf32 ? ElementType::F32 : parseElementType(words[0]);
    const auto *kind = llvm::find(kKinds, words[1]);
    good = type && kind != std::end(kKinds) &&
           readNumbers(llvm::ArrayRef(words).drop_front(2), sizes);
    sizes.type = type.value_or(ElementType::F32);
    if (good)
      sizes.kind = static_cast<Kind>(kind - std::begin(kKinds));
  }
  if (!good)
    return llvm::createStringError(
        "'" + text +
        "' is not a convolution, as 'f16 forward 8x56x56x64 64x3x3 groups 1 "
        "strides 2x2 low 1x1 high 1x1 dilations 1x1' is");
  if (sizes.isProduct())
    return llvm::createStringError("'" + text + "' is the product 'gemm " +
                                   sizes.product().str() + "'");
  return sizes;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool ConvolutionSizes::isProduct() const {
  auto is = [](const std::array<int64_t, 2> &pair, int64_t number) {
    return pair[0] == number && pair[1] == number;
  };
  return groups == 1 && is(window, 1) && is(strides, 1) && is(low, 0) &&
         is(high, 0);
}

int64_t ConvolutionSizes::phases(int dim) const {
  return std::min(strides[dim], input[dim]);
}

int64_t ConvolutionSizes::tapsOfPhase(int dim) const {
  return divideCeil(window[dim],
                    strides[dim] / std::gcd(strides[dim], dilations[dim]));
}

GemmShape ConvolutionSizes::product() const {
  int64_t places = images * output(0) * output(1);
  int64_t elements = window[0] * window[1] * inputs;
  GemmShape shape;
  shape.type = type;
  shape.tf32 = tf32;
  shape.batch = isDepthwise() ? 1 : groups;
  switch (kind) {
  case Kind::Forward:
    shape.m = places, shape.n = outputs, shape.k = elements;
    shape.transposeB = true;
    break;
  case Kind::BackwardInput:
    shape.m = images;
    shape.k = outputs;
    for (int dim : {0, 1}) {
      shape.m *= divideCeil(input[dim], strides[dim]);
      shape.k *= tapsOfPhase(dim);
      if (!isProduct())
        shape.batch *= phases(dim);
    }
    shape.n = inputs;
    break;
  case Kind::BackwardWeight:
    shape.m = outputs, shape.n = elements, shape.k = places;
    shape.transposeA = true;
    break;
  }
  if (isDepthwise() && kind == Kind::BackwardWeight)
    shape.m = elements; // of which an element has one output
  if (isDepthwise())
    shape.n = groups;
  return shape;
}

/// A thread has as many neighbouring channels as 16 bytes hold, in four rows.
GemmConfig ConvolutionSizes::depthwiseConfig() const {
  GemmShape shape = product();
  GemmConfig config;
  config.tileN = std::clamp<int64_t>(llvm::PowerOf2Ceil(groups), 8, 64);
  config.tileK = 1, config.stages = 1, config.warpsM = 1, config.warpsN = 4;
  int64_t channels = std::gcd<int64_t>(groups, 16 / byteWidth(type));
  int rows = config.threads() / (config.tileN / channels);
  config.tileM = 4 * rows;
  if (kind != Kind::BackwardWeight)
    return config;
  while (config.tileM > rows && config.tileM / 2 >= shape.m)
    config.tileM /= 2;
  // Enough blocks for a device, each with some places.
  int64_t blocks =
      divideCeil(shape.m, config.tileM) * divideCeil(shape.n, config.tileN);
  config.splits = std::clamp<int64_t>(
      std::min<int64_t>(divideCeil(512, blocks), shape.k / 64), 1, 64);
  return config;
}

std::vector<GemmConfig> ConvolutionSizes::candidates(const Arch &arch,
                                                     size_t most) const {
  if (isDepthwise())
    return {depthwiseConfig()};
  std::vector<GemmConfig> configs = gemmCandidates(product(), arch, 1000);
  llvm::erase_if(configs, [&](const GemmConfig &config) {
    return !whyNot(*this, config, arch).empty();
  });
  configs.resize(std::min(configs.size(), most));
  return configs;
}

uint64_t ConvolutionSizes::flops() const {
  return uint64_t(2) * images * output(0) * output(1) * groups * outputs *
         window[0] * window[1] * inputs;
}

std::string mp::cuda::whyNot(const ConvolutionSizes &sizes,
                             const GemmConfig &config, const Arch &arch) {
  if (sizes.isDepthwise()) {
    GemmConfig only = sizes.depthwiseConfig();
    return config == only ? "" : "a depthwise one is cut up as " + only.str();
  }
  GemmShape shape = sizes.product();
  if (std::string why = whyNot(shape, config, arch); !why.empty())
    return why;
  uint64_t bytes = sharedBytes(shape, config, !sizes.wrapsColumns());
  if (bytes > arch.sharedBytes())
    return "it needs " + std::to_string(bytes) +
           " bytes of shared memory with the places of its rows, and a block "
           "has " +
           std::to_string(arch.sharedBytes()) + " on " + arch.name();
  return "";
}
