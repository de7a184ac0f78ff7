//===- WindowRules.h - windows that slide over images -----------*- C++ -*-===//
#ifndef MP_DIALECT_WINDOWRULES_H
#define MP_DIALECT_WINDOWRULES_H

#include "dialect/Mp.h"
#include <array>

namespace mp {

/// A window along one dimension: how many elements it has, and how it slides.
struct WindowDim {
  int64_t size = 1, stride = 1;
  int64_t low = 0, high = 0; ///< padding
  int64_t dilation = 1;

  /// The elements from the window's first to its last, both included.
  int64_t span() const { return (size - 1) * dilation + 1; }
  /// The places of the window in `elements`, at least one; 0 if it is larger
  /// than the padded input.
  int64_t places(int64_t elements) const {
    int64_t room = elements + low + high - span();
    return room < 0 ? 0 : room / stride + 1;
  }
};

/// Height and width.
using Window = std::array<WindowDim, 2>;
/// One of the lists of Mp_WindowArguments.
using WindowList = std::optional<llvm::ArrayRef<int64_t>>;

/// Fails unless a list, which is `name` in the error, has a number for the
/// height and one for the width, both from `least` to 2^31.
llvm::LogicalResult checkPair(std::optional<mlir::Location> location,
                              llvm::StringRef name,
                              llvm::ArrayRef<int64_t> numbers, int64_t least);
/// Returns the window of `sizes`, and fails if a list does not have two numbers
/// or one is out of range: sizes, strides and dilations are at least 1, padding
/// is not negative, and none is larger than 2^31.
llvm::FailureOr<Window> makeWindow(std::optional<mlir::Location> location,
                                   llvm::ArrayRef<int64_t> sizes,
                                   WindowList strides, WindowList low,
                                   WindowList high, WindowList dilations);
/// The window of a verified op.
template <typename Op> Window windowOf(Op op, llvm::ArrayRef<int64_t> sizes) {
  return *makeWindow(std::nullopt, sizes, op.getStrides(), op.getLow(),
                     op.getHigh(), op.getDilations());
}

/// Fails unless a type is [batch, height, width, channels], of which the batch
/// alone may be "?" or 0. `what` names it in the error.
llvm::LogicalResult checkImages(std::optional<mlir::Location> location,
                                mlir::RankedTensorType type,
                                llvm::StringRef what = "input");

/// Returns the height and width of what a window yields. Fails if it is larger
/// than the padded input.
llvm::FailureOr<std::array<int64_t, 2>>
placesOf(std::optional<mlir::Location> location, const Window &window,
         llvm::ArrayRef<int64_t> heightAndWidth);

} // namespace mp

#endif // MP_DIALECT_WINDOWRULES_H
