//===- Tensor.h - values of a graph -----------------------------*- C++ -*-===//
//
// No header of MLIR is included by the DSL's headers.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_DSL_TENSOR_H
#define MANTISSA_DSL_TENSOR_H

#include "program/Program.h"
#include <concepts>
#include <initializer_list>
#include <source_location>
#include <string>
#include <vector>

namespace mantissa {

using mp::ElementType;
class Graph;
struct GraphState;

/// Element types.
inline constexpr ElementType I1 = ElementType::I1, I8 = ElementType::I8,
                             U8 = ElementType::U8, I16 = ElementType::I16,
                             U16 = ElementType::U16, I32 = ElementType::I32,
                             U32 = ElementType::U32, I64 = ElementType::I64,
                             F16 = ElementType::F16, BF16 = ElementType::BF16,
                             F32 = ElementType::F32, F64 = ElementType::F64,
                             F8E4M3FN = ElementType::F8E4M3FN,
                             F8E5M2 = ElementType::F8E5M2;

/// The size of the batch dimension, the leading one: known when the graph is
/// compiled.
inline constexpr int64_t Batch = INT64_MIN;

/// Sizes of dimensions, or numbers of dimensions.
using Dims = std::vector<int64_t>;

/// A value of a graph: what an op returns. Copies are the same value, which
/// lives as long as the Graph. After a mistake there is no value; ops on it
/// have none either, and say nothing more.
class Tensor {
public:
  Tensor() = default;

  explicit operator bool() const { return value; }
  ElementType element() const;
  const Dims &shape() const;
  /// Returns the size of a dimension; -1 is the last one.
  int64_t size(int64_t dim) const;
  int64_t rank() const { return shape().size(); }
  /// "?x784xf32"; "no tensor" after a mistake.
  std::string type() const;
  /// Names the op that computes the value, and returns the value. The scopes
  /// that are open are put in front of the name. The text of the module has it
  /// as `%name`, by which a step returns it on request ("value:%name");
  /// policies name the op by it (`mp.linear@name`).
  Tensor named(const std::string &name) const;

private:
  friend struct GraphState;
  friend class OpCall;
  friend class Graph;
  friend class Operand;
  Tensor(GraphState *graph, const void *value) : graph(graph), value(value) {}

  GraphState *graph = nullptr;
  const void *value = nullptr; ///< null: the mistake is in the graph
};

/// The place in the user's program of a call.
using Place = std::source_location;

/// An operand of an op: a tensor, or a number that becomes a constant of the
/// other operands' element type. It knows the line on which it stands.
class Operand {
public:
  Operand(const Tensor &tensor, Place place = Place::current())
      : tensor(tensor), place(place) {}
  template <typename Number>
    requires std::integral<Number> || std::floating_point<Number>
  Operand(Number number, Place place = Place::current())
      : number(double(number)), isNumber(true), place(place) {}

  Tensor tensor = {};
  double number = 0;
  bool isNumber = false;
  Place place;
};

/// Several operands: of concat, or a function's arguments.
class Operands {
public:
  Operands(std::initializer_list<Tensor> tensors,
           Place place = Place::current())
      : tensors(tensors), place(place) {}
  Operands(std::vector<Tensor> tensors, Place place = Place::current())
      : tensors(std::move(tensors)), place(place) {}

  std::vector<Tensor> tensors;
  Place place;
};

/// The graph that an op without operands is added to.
class Context {
public:
  Context(Graph &graph, Place place = Place::current())
      : graph(graph), place(place) {}
  Graph &graph;
  Place place;
};

/// The type of a result that no operand determines.
struct ResultType {
  ElementType element;
  Dims shape;
};

} // namespace mantissa

#endif // MANTISSA_DSL_TENSOR_H
