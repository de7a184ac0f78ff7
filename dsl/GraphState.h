//===- GraphState.h - the module behind a graph -----------------*- C++ -*-===//
//
// The only header of the DSL that sees MLIR; its users do not include it.
//
//===----------------------------------------------------------------------===//
#ifndef MANTISSA_DSL_GRAPHSTATE_H
#define MANTISSA_DSL_GRAPHSTATE_H

#include "dialect/Mp.h"
#include "dsl/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <map>

namespace mantissa {

/// "?x784xf32"
std::string typeText(ElementType element, const Dims &shape);
std::string typeText(mlir::Type type);

/// Whether it is one of the enumeration.
bool isElementType(ElementType element);
/// Returns the element type that the DSL calls so.
ElementType elementOf(mlir::Type type);

/// Text as MLIR reads a string: in quotes, with escapes.
std::string quoted(llvm::StringRef text);

struct GraphState {
  GraphState(Graph &graph, const std::string &name, Place place);

  mlir::Location locate(Place place);
  /// Fails with a mistake if the name is empty, or something in the module has
  /// it. `what` is to get it: "a function".
  bool declare(llvm::StringRef what, const std::string &name, Place place);
  /// Fails with a mistake if `element` is none, or a size is neither a number
  /// nor the leading Batch.
  bool acceptType(const llvm::Twine &what, ElementType element,
                  const Dims &shape, Place place);
  mlir::Type elementType(ElementType element);
  mlir::RankedTensorType tensorType(ElementType element, const Dims &shape);

  /// Keeps a mistake; `details` are lines that follow it.
  Tensor mistake(const llvm::Twine &message, Place place,
                 const llvm::Twine &details = "");
  /// Runs `work`, which emits diagnostics if it fails; these become a mistake.
  bool attempt(Place place, const llvm::Twine &details,
               llvm::function_ref<llvm::LogicalResult()> work);

  Tensor wrap(mlir::Value value);
  /// Finds the multiples of the batch that the `?` of an op's results stand
  /// for; an error if those of its operands do not fit.
  llvm::LogicalResult inferMultiples(mlir::Operation *op);
  /// What a mistake leaves in place of a tensor.
  Tensor none() { return Tensor(this, nullptr); }
  static mlir::Value valueOf(const Tensor &tensor) {
    return mlir::Value::getFromOpaquePointer(tensor.value);
  }
  static llvm::SmallVector<mlir::Value>
  valuesOf(llvm::ArrayRef<Tensor> tensors) {
    return llvm::map_to_vector(tensors, valueOf);
  }
  /// Gives the place of the value's op, or of the argument, this name.
  static void setName(mlir::Value value, llvm::StringRef name);
  /// Fails with a mistake unless the tensor is a value of this graph, visible
  /// where ops are added now. Says nothing if a mistake was made before.
  bool accept(const Tensor &tensor, Place place);
  Tensor constant(double value, mlir::Type element, Place place);
  /// Fails with a mistake unless an element of this type can be the number.
  /// Floats round it, but a finite number stays finite.
  bool holds(mlir::Type element, double value, Place place);
  /// Declares a variable, or finds it again, and reads it.
  Tensor variable(llvm::StringRef kind, const std::string &name,
                  ElementType element, const Dims &shape,
                  const Initializer &init, const VariableOptions &options,
                  Place place);
  /// Adds ops that are written as text at the end of the module.
  void addText(const std::string &text, Place place);

  Graph &graph;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function; ///< its terminator is added by Graph::text
  mlir::OpBuilder builder;
  std::string scope;
  struct Output {
    std::string name;
    mlir::Value value;
    mlir::Location location;
  };
  std::vector<Output> outputs;
  std::vector<std::string> inputNames;
  /// Inputs and variables as the user declared them.
  std::map<std::string, std::pair<ElementType, Dims>> inputs;
  std::map<std::string, Tensor> variables;
  std::map<std::string, Dims> dimsInFiles; ///< of variables that have them
  std::vector<std::string> mistakes;
  /// Private functions whose bodies are being built, the innermost one last.
  std::vector<std::string> open;
  /// Functions and loops with mistakes. The user may still have their values.
  std::vector<mlir::OwningOpRef<mlir::Operation *>> refused;
  mutable std::map<const void *, Dims> shapes;
  /// Of results of ops. What a call returns has none, nor what depends on an
  /// argument of a private function: mp-specialize finds them.
  llvm::DenseMap<mlir::Value, mp::BatchMultiple> multiples;
};

/// An attribute as MLIR writes it.
struct Text {
  std::string text;
};

/// A call of a generated function.
class OpCall {
public:
  OpCall(const char *name, unsigned results, bool hasSegments)
      : name(name), count(results), hasSegments(hasSegments) {}

  void in(const Context &context);
  void operand(const Operand &operand);
  void operand(const Operands &operands);
  void operand(const Tensor &optional);
  /// An operand that passes add.
  void operand() { segments.push_back(0); }
  void result(const ResultType &type) { resultType = type; }

  void attribute(const char *name, const Text &value) {
    attributes.emplace_back(name, value.text);
  }
  void attribute(const char *name, bool value);
  void attribute(const char *name, int64_t value);
  void attribute(const char *name, double value);
  void attribute(const char *name, const std::string &value);
  void attribute(const char *name, const Dims &value);
  void attribute(const char *name, ElementType value);
  template <typename T>
  void attribute(const char *name, const std::optional<T> &value) {
    if (value)
      attribute(name, *value);
  }

  /// Adds the op, and returns its results: no tensors after a mistake.
  std::vector<Tensor> emit();

private:
  void at(Place where);
  const Tensor *partnerOfNumbers() const;
  bool prepare(llvm::SmallVectorImpl<mlir::Value> &values);
  std::string describeOperands() const;

  const char *name;
  unsigned count;
  bool hasSegments;
  GraphState *state = nullptr;
  std::optional<Place> place;
  std::vector<Operand> operands;
  llvm::SmallVector<int32_t> segments;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::optional<ResultType> resultType;
};

} // namespace mantissa

#endif // MANTISSA_DSL_GRAPHSTATE_H
