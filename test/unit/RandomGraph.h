//===- RandomGraph.h - seeded graphs and what they must compute -----------===//
//
// A graph grows op by op, and each op is computed as it comes by a function of
// that op alone. So a graph knows the numbers that the same ops must give when
// they are compiled together, and how far rounding may take them apart.
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
/// The same in the type that sums are kept in.
inline double roundingOfSums(ElementType type) {
  return std::min(roundingOf(type), 0x1p-24);
}
/// What adding an op said, as an answer to whether the graph has grown.
inline llvm::Expected<bool> grown(llvm::Error error) {
  if (error)
    return std::move(error);
  return true;
}

/// A value of a graph. `slack` is how far an element may be off: 0 where every
/// op behind it gives the same bits wherever it is computed, so no sum of
/// floats.
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
  /// Builds the graph of `seed`; an op that alone does not compile is an error
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

  // What to add. Each returns false where nothing in the graph suits it.
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
  /// A value that `suits`, later ones likelier than early ones.
  std::optional<unsigned>
  pick(llvm::function_ref<bool(const GraphValue &)> suits);

  std::mt19937 random;
  std::vector<std::pair<GraphOp, unsigned>> ops; ///< and its result
};

} // namespace mp

#endif // MP_TEST_UNIT_RANDOMGRAPH_H
