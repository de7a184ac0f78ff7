//===- RandomGraph.h - seeded graphs and their expected results -----------===//
//
// A graph grows op by op, and a function of each op alone computes it at once.
// So a graph knows the numbers that the same ops must give when they are
// compiled together, and how much rounding may change them.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_RANDOMGRAPH_H
#define MP_TEST_UNIT_RANDOMGRAPH_H

#include "GoldenFunction.h"
#include <random>

namespace mp {

/// "tensor<4x3xf32>".
inline std::string tensor(const TensorType &type) {
  return "tensor<" + type.str() + ">";
}
inline bool isFloat(const TensorType &type) { return isFloat(type.element); }
inline bool isNumber(const TensorType &type) {
  return isFloat(type) || type.element == ElementType::I32 ||
         type.element == ElementType::I64;
}
/// Half a unit in the last place of one, in the type that results round to.
double roundingOf(ElementType type);
/// Half a unit in the last place in the type of sums.
inline double roundingOfSums(ElementType type) {
  return std::min(roundingOf(type), 0x1p-24);
}
/// Converts the error of adding an op to an answer whether the graph has grown.
inline llvm::Expected<bool> grown(llvm::Error error) {
  if (error)
    return std::move(error);
  return true;
}

/// A value of a graph. `slack` is how far an element may be off: 0 where every
/// op after it gives the same bits on all targets, so not for sums of floats.
struct GraphValue {
  std::string name;
  TensorType type;
  Numbers numbers;
  double slack = 0;
  double largest() const;
};

/// One op as text: "head a, b attributes : tail".
struct GraphOp {
  std::string head, attributes, tail;
  std::vector<unsigned> operands;
};

/// A function over arguments and variables, some of which it writes.
class RandomGraph {
public:
  /// Builds the graph of `seed`; an op that does not compile alone is an error
  /// that holds the op's module.
  static llvm::Expected<RandomGraph> create(unsigned seed);

  /// The module with everything in one function @f.
  std::string module() const;

  std::vector<unsigned> arguments, results; ///< indices into `values`
  struct Variable {
    unsigned read; ///< the value it has at entry
    std::optional<unsigned> written;
    std::optional<unsigned> predicate;
  };
  std::vector<Variable> variables;
  std::vector<GraphValue> values;

private:
  explicit RandomGraph(unsigned seed) : random(seed) {}

  // The kinds of ops to add. Each function returns false if no value of the
  // graph suits it.
  llvm::Expected<bool> grow();
  llvm::Expected<bool> growUnary();
  llvm::Expected<bool> growBinary();
  llvm::Expected<bool> growFlags();
  llvm::Expected<bool> growReduction();
  llvm::Expected<bool> growArgmax(unsigned operand);
  llvm::Expected<bool> growView();
  llvm::Expected<bool> growBox();
  llvm::Expected<bool> growRows();
  llvm::Expected<bool> growSoftmax();
  llvm::Expected<bool> growContraction();
  llvm::Expected<bool> growBranch();
  llvm::Expected<bool> growCast();

  void addInputs();
  void addOutputs();
  void addInput(TensorType type, bool variable);
  /// Adds an op and computes it; `slack` without the rounding of the result.
  llvm::Error add(GraphOp op, TensorType type, double slack);
  std::string text(const GraphOp &op, llvm::ArrayRef<std::string> names) const;

  unsigned below(unsigned count) { return random() % count; }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::vector<int64_t> randomShape();
  /// Returns a value that `suits`, later ones likelier than early ones.
  std::optional<unsigned>
  pick(llvm::function_ref<bool(const GraphValue &)> suits);

  std::mt19937 random;
  std::vector<std::pair<GraphOp, unsigned>> ops; ///< with their results
};

} // namespace mp

#endif // MP_TEST_UNIT_RANDOMGRAPH_H
