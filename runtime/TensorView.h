//===- TensorView.h - typed view of elements that others own --------------===//
#ifndef MP_RUNTIME_TENSORVIEW_H
#define MP_RUNTIME_TENSORVIEW_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include <iterator>

namespace mp {

/// The element type of a number type of the host, or none.
template <typename T> inline constexpr std::optional<ElementType> elementOf;
template <>
inline constexpr auto elementOf<bool> = std::optional(ElementType::I1);
template <>
inline constexpr auto elementOf<int8_t> = std::optional(ElementType::I8);
template <>
inline constexpr auto elementOf<uint8_t> = std::optional(ElementType::U8);
template <>
inline constexpr auto elementOf<int16_t> = std::optional(ElementType::I16);
template <>
inline constexpr auto elementOf<uint16_t> = std::optional(ElementType::U16);
template <>
inline constexpr auto elementOf<uint32_t> = std::optional(ElementType::U32);
template <>
inline constexpr auto elementOf<int32_t> = std::optional(ElementType::I32);
template <>
inline constexpr auto elementOf<int64_t> = std::optional(ElementType::I64);
template <>
inline constexpr auto elementOf<float> = std::optional(ElementType::F32);
template <>
inline constexpr auto elementOf<double> = std::optional(ElementType::F64);

template <typename T>
concept HostNumber = elementOf<T>.has_value();

template <typename R>
using NumberOf =
    std::remove_cvref_t<decltype(*std::data(std::declval<const R &>()))>;

/// A range of such numbers: std::vector<float>, llvm::ArrayRef<uint8_t>, ...
template <typename R>
concept HostNumbers =
    HostNumber<NumberOf<R>> && requires(const R &range) { std::size(range); };

/// A view of dense elements in row-major order: an input of a run, or a result.
/// It has their number and type, but not the shape.
class TensorView {
public:
  TensorView() = default;
  /// `bytes` must hold whole elements.
  TensorView(ElementType element, llvm::ArrayRef<char> bytes)
      : kind(element), held(bytes) {}
  TensorView(ElementType element, const void *data, uint64_t bytes)
      : kind(element), held(static_cast<const char *>(data), bytes) {}
  /// A view of host numbers.
  template <HostNumbers R>
  TensorView(const R &numbers)
      : TensorView(*elementOf<NumberOf<R>>, std::data(numbers),
                   std::size(numbers) * sizeof(NumberOf<R>)) {}

  ElementType element() const { return kind; }
  llvm::ArrayRef<char> bytes() const { return held; }
  const void *data() const { return held.data(); }
  /// Returns the number of elements.
  int64_t size() const { return held.size() / byteWidth(kind); }

  /// Returns the elements. Fails if their type is not T.
  template <HostNumber T> llvm::Expected<llvm::ArrayRef<T>> as() const {
    if (kind != *elementOf<T>)
      return otherType(*elementOf<T>);
    return llvm::ArrayRef(static_cast<const T *>(data()), size());
  }
  /// Returns the elements converted to f32. This is exact for f8, f16 and bf16,
  /// and rounds f64 and integers beyond 2^24.
  std::vector<float> floats() const;

private:
  llvm::Error otherType(ElementType wanted) const;

  ElementType kind = ElementType::F32;
  llvm::ArrayRef<char> held;
};

} // namespace mp

#endif // MP_RUNTIME_TENSORVIEW_H
