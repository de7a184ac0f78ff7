//===- Static.h - tensors whose shape C++ knows -----------------*- C++ -*-===//
//
// A wrong product of Static tensors does not compile; the message names the two
// dimensions that differ.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_DSL_STATIC_H
#define MANTISSA_DSL_STATIC_H

#include "dsl/Layers.h"

namespace mantissa {

/// A tensor of this element type and shape. `Batch` may be the first size.
template <ElementType Element, int64_t... Sizes> class Static {
public:
  static constexpr ElementType element = Element;
  static Dims shape() { return {Sizes...}; }

  /// Takes a tensor whose type is checked when the program runs.
  explicit Static(const Operand &value) : value(value.tensor) {
    if (value.tensor &&
        (value.tensor.element() != Element || value.tensor.shape() != shape()))
      this->value = Graph::of(value.tensor)
                        .mistake("the tensor is " + value.tensor.type() +
                                     ", and Static expects " + type(),
                                 value.place);
  }
  operator Tensor() const { return value; }
  const Tensor &tensor() const { return value; }

  static std::string type() {
    std::string text;
    for (int64_t size : shape())
      text += (size == Batch ? "?" : std::to_string(size)) + "x";
    return text + mp::elementTypeName(Element).str();
  }

private:
  Tensor value;
};

/// Two dimensions that an op needs to be equal.
template <int64_t Left, int64_t Right> struct EqualDimensions {
  static constexpr bool value = Left == Right;
};
/// Two element types that an op needs to be equal.
template <ElementType Left, ElementType Right> struct EqualElements {
  static constexpr bool value = Left == Right;
};

/// An input whose shape C++ knows.
template <ElementType Element, int64_t... Sizes>
Static<Element, Sizes...> staticInput(Graph &net, const std::string &name,
                                      Place place = Place::current()) {
  return Static<Element, Sizes...>(
      Operand(net.input(name, Element, {Sizes...}, place), place));
}

/// A parameter whose shape C++ knows.
template <ElementType Element, int64_t... Sizes>
Static<Element, Sizes...> staticParameter(Graph &net, const std::string &name,
                                          const Initializer &init,
                                          Place place = Place::current()) {
  return Static<Element, Sizes...>(
      Operand(net.parameter(name, Element, {Sizes...}, init, place), place));
}

/// The matrix product [M, K] x [K, N].
template <ElementType A, ElementType B, int64_t M, int64_t K, int64_t K2,
          int64_t N>
Static<A, M, N> matmul(const Static<A, M, K> &lhs, const Static<B, K2, N> &rhs,
                       Place place = Place::current()) {
  static_assert(EqualDimensions<K, K2>::value,
                "matmul: the columns of the left matrix are not as many as the "
                "rows of the right one");
  static_assert(EqualElements<A, B>::value,
                "matmul: the matrices have different element types");
  return Static<A, M, N>(Operand(
      matmul(Operand(lhs.tensor(), place), Operand(rhs.tensor(), place)),
      place));
}

/// x W^T with a weight [Out, In], as torch.nn.functional.linear.
template <ElementType A, ElementType B, int64_t M, int64_t In, int64_t Out,
          int64_t In2>
Static<A, M, Out> linear(const Static<A, M, In> &input,
                         const Static<B, Out, In2> &weight,
                         Place place = Place::current()) {
  static_assert(EqualDimensions<In, In2>::value,
                "linear: the features of the input are not those that the "
                "weight takes");
  static_assert(EqualElements<A, B>::value,
                "linear: input and weight have different element types");
  return Static<A, M, Out>(Operand(
      linear(Operand(input.tensor(), place), Operand(weight.tensor(), place)),
      place));
}

/// An elementwise op of equal shapes.
template <ElementType A, ElementType B, int64_t... X, int64_t... Y>
Static<A, X...> operator+(const Static<A, X...> &lhs,
                          const Static<B, Y...> &rhs) {
  static_assert(sizeof...(X) == sizeof...(Y),
                "+: the tensors have different numbers of dimensions");
  static_assert((EqualDimensions<X, Y>::value && ...),
                "+: the tensors have different shapes");
  static_assert(EqualElements<A, B>::value,
                "+: the tensors have different element types");
  return Static<A, X...>(add(lhs.tensor(), rhs.tensor()));
}

} // namespace mantissa

#endif // MANTISSA_DSL_STATIC_H
