//===- PoolingRules.cpp - which elements a place of a pool has ------------===//
#include "dialect/PoolingRules.h"

using namespace mlir;
using namespace mp;

static constexpr StringLiteral kNames[] = {"height", "width"};

//===----------------------------------------------------------------------===//
// One dimension
//===----------------------------------------------------------------------===//

int64_t PoolDim::taps() const {
  // A bin ends at ceil((place + 1) * elements / places).
  return isAdaptive ? llvm::divideCeil(elements, places) + 1 : window.size;
}

int64_t PoolDim::covers() const {
  int64_t most = isAdaptive ? llvm::divideCeil(places, elements) + 1
                            : llvm::divideCeil(window.span(), window.stride);
  return std::min(most, places);
}

int64_t PoolDim::counted(int64_t place, bool countsPadding) const {
  if (isAdaptive)
    return llvm::divideCeil((place + 1) * elements, places) -
           place * elements / places;
  int64_t begin = place * window.stride - window.low;
  int64_t end = elements + (countsPadding ? window.high : 0);
  int64_t first =
      begin < 0 && !countsPadding
          ? std::min<int64_t>(llvm::divideCeil(-begin, window.dilation),
                              window.size)
          : 0;
  int64_t last =
      end <= begin
          ? 0
          : std::min<int64_t>(llvm::divideCeil(end - begin, window.dilation),
                              window.size);
  return std::max<int64_t>(last - first, 0);
}

int64_t PoolDim::countedByAll(bool countsPadding) const {
  if (isAdaptive)
    return 0;
  // If neither the first nor the last is cut, none is.
  bool isFull = counted(0, countsPadding) == window.size &&
                counted(places - 1, countsPadding) == window.size;
  return isFull ? window.size : 0;
}

int64_t mp::countPlaces(const WindowDim &window, int64_t elements,
                        bool ceilMode) {
  int64_t room = elements + window.low + window.high - window.span();
  if (ceilMode)
    room += window.stride - 1;
  if (room < 0)
    return 0;
  int64_t places = room / window.stride + 1;
  // The last one may not begin in the padding after the elements.
  if (ceilMode && (places - 1) * window.stride >= elements + window.low)
    --places;
  return places;
}

//===----------------------------------------------------------------------===//
// Both dimensions
//===----------------------------------------------------------------------===//

/// Fails if padding is more than half of the window, as it does in PyTorch.
static LogicalResult checkPadding(std::optional<Location> location,
                                  const Window &window) {
  for (auto [name, dim] : llvm::zip_equal(kNames, window))
    for (auto [list, padding] :
         {std::pair(StringRef("low"), dim.low), {"high", dim.high}})
      if (padding > dim.size / 2)
        return emitOptionalError(location, list, " pads the ", name, " by ",
                                 padding, ", expected at most ", dim.size / 2,
                                 ": half of the window's ", dim.size);
  return success();
}

/// Tap numbers are i32.
static LogicalResult checkTaps(std::optional<Location> location,
                               const PoolDims &dims) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (dims[0].taps() <= most / dims[1].taps())
    return success();
  return emitOptionalError(location, "a window of ", dims[0].taps(), "x",
                           dims[1].taps(), " has more than ", most,
                           " elements");
}

FailureOr<PoolDims> mp::makePool(std::optional<Location> location,
                                 ArrayRef<int64_t> elements,
                                 const PoolLists &lists, bool ceilMode) {
  auto window = makeWindow(location, *lists.window, lists.strides, lists.low,
                           lists.high, lists.dilations);
  if (failed(window) || failed(checkPadding(location, *window)))
    return failure();
  if (!ceilMode && failed(placesOf(location, *window, elements)))
    return failure();
  PoolDims dims;
  for (auto [name, dim, size, slide] :
       llvm::zip_equal(kNames, dims, elements, *window)) {
    dim = {size, countPlaces(slide, size, ceilMode), slide};
    if (dim.places == 0)
      return emitOptionalError(
          location, "the window has no place in the ", name, ": it spans ",
          slide.span(), " elements, and the input has ", size,
          ", with padding ", size + slide.low + slide.high);
  }
  if (failed(checkTaps(location, dims)))
    return failure();
  return dims;
}

/// Bins that all have one size are places of a window.
static PoolDim makeBins(int64_t elements, int64_t places) {
  PoolDim dim{elements, places, {}, /*isAdaptive=*/elements % places != 0};
  if (!dim.isAdaptive)
    dim.window.size = dim.window.stride = elements / places;
  return dim;
}

FailureOr<PoolDims> mp::makePool(std::optional<Location> location,
                                 ArrayRef<int64_t> elements,
                                 ArrayRef<int64_t> places,
                                 const PoolLists &lists) {
  if (!lists.window) {
    if (lists.strides || lists.low || lists.high || lists.dilations)
      return emitOptionalError(location,
                               "has strides, padding or dilations, and no "
                               "window that they belong to");
    PoolDims dims{makeBins(elements[0], places[0]),
                  makeBins(elements[1], places[1])};
    if (failed(checkTaps(location, dims)))
      return failure();
    return dims;
  }
  std::string found;
  for (bool ceilMode : {false, true}) {
    auto dims =
        makePool(ceilMode ? location : std::nullopt, elements, lists, ceilMode);
    if (failed(dims) && ceilMode)
      return failure();
    if (failed(dims))
      continue;
    if ((*dims)[0].places == places[0] && (*dims)[1].places == places[1])
      return dims;
    std::string places = std::to_string((*dims)[0].places) + "x" +
                         std::to_string((*dims)[1].places);
    if (places != found)
      found += (found.empty() ? "" : ", or with ceil_mode ") + places;
  }
  return emitOptionalError(location, "the window maps ", elements[0], "x",
                           elements[1], " to ", found, ", and not to ",
                           places[0], "x", places[1]);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

RankedTensorType mp::resized(RankedTensorType images, ArrayRef<int64_t> size) {
  SmallVector<int64_t> shape(images.getShape());
  llvm::copy(size, shape.begin() + 1);
  return images.clone(shape);
}

LogicalResult mp::checkSize(std::optional<Location> location, StringRef name,
                            ArrayRef<int64_t> size) {
  if (size.size() != 2)
    return emitOptionalError(location, name, " has ", size.size(),
                             " numbers, expected 2: height and width");
  constexpr int64_t most = int64_t(1) << 31;
  for (int64_t number : size)
    if (number < 1 || number > most)
      return emitOptionalError(location, name, " has ", number,
                               ", expected a number from 1 to ", most);
  return success();
}
