//===- Graph.h - a network under construction -------------------*- C++ -*-===//
#ifndef MANTISSA_DSL_GRAPH_H
#define MANTISSA_DSL_GRAPH_H

#include "dsl/Ops.h"
#include "dsl/Recipe.h"
#include <functional>
#include <memory>

namespace mantissa {

/// The first value of a variable, with the names and defaults of torch.nn.init.
struct Initializer {
  std::string text; ///< of #mp.init
};
Initializer zeros();
Initializer ones();
Initializer constantInit(double value);
Initializer uniformInit(double a = 0, double b = 1);
/// Within 1/sqrt(fanIn) of zero, as torch.nn.Linear draws its bias.
Initializer uniformFanIn(int64_t fanIn);
Initializer normalInit(double mean = 0, double std = 1);
/// `a` is the slope below zero of the activation that follows: 0 for relu. The
/// default is what torch.nn's layers pass, which is less than relu needs.
Initializer kaimingUniform(std::optional<double> a = {});
Initializer kaimingNormal(std::optional<double> a = {});
Initializer xavierUniform(double gain = 1);
Initializer xavierNormal(double gain = 1);

/// What is seldom said of a variable.
struct VariableOptions {
  /// Dimension i in files of weights is dimension `dimsInFiles[i]` of the
  /// variable. Empty: the order is the same.
  Dims dimsInFiles = {};
};

/// How a loop runs over time steps: mp.scan, which is jax.lax.scan.
struct Scan {
  int64_t dim = 0;                   ///< of time, in what it runs over
  std::optional<int64_t> steps = {}; ///< if it runs over nothing
  bool reverse = false;              ///< begins with the last time step
  /// Time steps that are compiled as one round of the loop; empty: one.
  std::optional<int64_t> unroll = {};
};
/// What a time step returns, or a scan.
struct Scanned {
  std::vector<Tensor> carried; ///< for the next step; after the last one
  std::vector<Tensor> stacked; ///< of one step; of all, along the scan's `dim`
};

/// A module that is built op by op: one function of its inputs, variables, and
/// recipes that train it. Mistakes do not stop the program: they are kept, each
/// with the line of the user's file, and `text` returns them all.
class Graph {
public:
  /// `name` is the module's.
  explicit Graph(const std::string &name, Place place = Place::current());
  ~Graph();
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  /// An argument of the function. `Batch` may be the first size.
  Tensor input(const std::string &name, ElementType element, const Dims &shape,
               Place place = Place::current());
  /// A trained variable, and its value. The scopes that are open are put in
  /// front of its name. The same name again is the same variable.
  Tensor parameter(const std::string &name, ElementType element,
                   const Dims &shape, const Initializer &init,
                   Place place = Place::current());
  Tensor parameter(const std::string &name, ElementType element,
                   const Dims &shape, const Initializer &init,
                   const VariableOptions &options,
                   Place place = Place::current());
  /// A variable that is not trained.
  Tensor buffer(const std::string &name, ElementType element, const Dims &shape,
                const Initializer &init, Place place = Place::current());
  Tensor buffer(const std::string &name, ElementType element, const Dims &shape,
                const Initializer &init, const VariableOptions &options,
                Place place = Place::current());
  /// Gives a buffer its value after a step.
  void write(const std::string &buffer, const Operand &value);
  /// A result of the function.
  void output(const std::string &name, const Operand &value);

  /// Puts a name in front of those of variables and of named values until it is
  /// destroyed, which is before its Graph: "encoder." before "fc1.weight".
  class [[nodiscard]] Scope {
  public:
    Scope(Graph &graph, const std::string &name);
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    GraphState &state;
    size_t before;
  };
  Scope scope(const std::string &name) { return Scope(*this, name); }
  /// Puts the scopes that are open in front of a name.
  std::string scoped(const std::string &name) const;

  /// Calls a private function of these values. The first call builds its body;
  /// later ones of the same name call it again, with values of the same types.
  /// It cannot call itself, and inputs and outputs are not made in it.
  /// The body takes variables as arguments, since it would be bound to those
  /// that it reads itself.
  using Body = std::function<std::vector<Tensor>(const std::vector<Tensor> &)>;
  std::vector<Tensor> call(const std::string &name, const Operands &arguments,
                           const Body &body);

  /// Adds a loop over time steps. The body is built once, from the carried
  /// values and from one time step of those that the loop runs over. What it
  /// carries on has the types of `carried`. It may use values from outside, and
  /// variables.
  using TimeStep = std::function<Scanned(const std::vector<Tensor> &carried,
                                         const std::vector<Tensor> &slices)>;
  Scanned scan(const Operands &carried, const Operands &over, const Scan &how,
               const TimeStep &body);

  /// Adds a recipe.
  void train(const Recipe &recipe, Place place = Place::current());
  /// Names the files of a data folder for the inputs: source "train" or "test".
  void data(const std::string &source, const std::vector<Column> &columns,
            Place place = Place::current());

  /// The module as the tools read it, with the lines of the user's program as
  /// locations; without them if `locations` is false. An error has all
  /// mistakes, each as "file:line:column: error: ...".
  llvm::Expected<std::string> text(bool locations = true) const;
  /// Writes the text, or the mistakes to the standard error; whether it is
  /// right.
  bool print(llvm::raw_ostream &os = llvm::outs()) const;
  /// The mistakes so far.
  const std::vector<std::string> &mistakes() const;

  /// For layers: reports a mistake, and returns what is in place of a tensor.
  Tensor mistake(const std::string &message, Place place);
  GraphState &internals() const { return *state; }
  /// The graph of a tensor, which has to have one.
  static Graph &of(const Tensor &tensor);

private:
  std::unique_ptr<GraphState> state;
};

} // namespace mantissa

#endif // MANTISSA_DSL_GRAPH_H
