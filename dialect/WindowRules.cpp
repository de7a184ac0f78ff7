//===- WindowRules.cpp - windows that slide over images -------------------===//
#include "dialect/WindowRules.h"

using namespace mlir;
using namespace mp;

namespace {
/// A list of Mp_WindowArguments, and what it is if it is not given.
struct List {
  StringRef name;
  WindowList given;
  int64_t least;
  int64_t WindowDim::*field;
};
} // namespace

LogicalResult mp::checkPair(std::optional<Location> location, StringRef name,
                            ArrayRef<int64_t> numbers, int64_t least) {
  constexpr int64_t most = int64_t(1) << 31;
  if (numbers.size() != 2)
    return emitOptionalError(location, name, " has ", numbers.size(),
                             " numbers, expected 2: height and width");
  for (int64_t number : numbers)
    if (number < least || number > most)
      return emitOptionalError(location, name, " has ", number,
                               ", expected a number from ", least, " to ",
                               most);
  return success();
}

FailureOr<Window> mp::makeWindow(std::optional<Location> location,
                                 ArrayRef<int64_t> sizes, WindowList strides,
                                 WindowList low, WindowList high,
                                 WindowList dilations) {
  Window window;
  for (const List &list :
       {List{"window", sizes, 1, &WindowDim::size},
        List{"strides", strides, 1, &WindowDim::stride},
        List{"low", low, 0, &WindowDim::low},
        List{"high", high, 0, &WindowDim::high},
        List{"dilations", dilations, 1, &WindowDim::dilation}}) {
    if (!list.given)
      continue;
    if (failed(checkPair(location, list.name, *list.given, list.least)))
      return failure();
    for (auto [dim, number] : llvm::zip_equal(window, *list.given))
      dim.*list.field = number;
  }
  return window;
}

LogicalResult mp::checkImages(std::optional<Location> location,
                              RankedTensorType type, StringRef what) {
  if (type.getRank() != 4)
    return emitOptionalError(location, what, " is not [batch, height, width, ",
                             "channels]: ", type);
  if (llvm::is_contained(type.getShape().drop_front(), ShapedType::kDynamic))
    return emitOptionalError(location, "only the batch of ", what,
                             " may be '?': ", type);
  if (llvm::is_contained(type.getShape().drop_front(), 0))
    return emitOptionalError(location, what, " has a size of 0 besides its ",
                             "batch: ", type);
  return success();
}

FailureOr<std::array<int64_t, 2>>
mp::placesOf(std::optional<Location> location, const Window &window,
             ArrayRef<int64_t> heightAndWidth) {
  constexpr StringLiteral names[] = {"height", "width"};
  std::array<int64_t, 2> places;
  for (auto [name, dim, elements, count] :
       llvm::zip_equal(names, window, heightAndWidth, places)) {
    count = dim.places(elements);
    if (count == 0)
      return emitOptionalError(
          location, "the window spans ", dim.span(), " elements of the ", name,
          ", and the input has ", elements, ", with padding ",
          elements + dim.low + dim.high);
  }
  return places;
}
