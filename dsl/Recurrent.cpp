//===- Recurrent.cpp - layers that go from time step to time step ---------===//
#include "dsl/Recurrent.h"
#include <algorithm>

namespace mantissa {

namespace {
/// What a cell makes of its states and of the products of a time step.
using States = std::vector<Tensor>;
/// `input` and `hidden` are the products of what comes in and of the hidden
/// state, [batch, gates * hidden].
using Cell = std::function<States(const Tensor &input, const Tensor &hidden,
                                  const States &before)>;

/// A layer of any kind.
struct Kind {
  const char *name; ///< of the function, for mistakes
  int64_t gates;
  Cell cell;
  int64_t projection = 0;
  bool hasCell = false; ///< a second state
};

/// The number of states: one for each layer and direction.
int64_t statesOf(const Recurrent &layer) {
  return layer.layers * (layer.bidirectional ? 2 : 1);
}

/// After a mistake, adds the states that there would be, which are none.
void fill(RecurrentState &state, const Recurrent &layer, const Kind &kind,
          const Tensor &nothing) {
  size_t states = std::clamp<int64_t>(statesOf(layer), 0, 1024);
  state.hidden.resize(states, nothing);
  state.cell.resize(kind.hasCell ? states : 0, nothing);
}

class Layers {
public:
  Layers(const Operand &input, const Recurrent &layer, const Kind &kind,
         const RecurrentState &first)
      : net(Graph::of(input.tensor)), place(input.place), layer(layer),
        kind(kind), first(first), element(input.tensor.element()),
        out(kind.projection ? kind.projection : layer.hidden) {}

  RecurrentResult run(Tensor input) {
    RecurrentResult result;
    if (layer.lengths)
      isThere = stepsThatAre(input);
    if (layer.begins)
      goesOn = abs(cast(at(layer.begins), element)) <= 0;
    for (int64_t depth = 0; depth < layer.layers && input; ++depth) {
      if (depth && layer.dropout > 0)
        input = dropout(at(input), {.p = layer.dropout});
      std::vector<Tensor> outputs;
      for (bool reverse : {false, true})
        if (!reverse || layer.bidirectional)
          outputs.push_back(direction(input, depth, reverse, result.state));
      input = outputs.size() == 1 ? outputs.front()
                                  : concat(Operands(outputs, place), 2);
    }
    result.output = input;
    if (!input)
      fill(result.state, layer, kind, input);
    return result;
  }

private:
  Operand at(const Tensor &tensor) const { return Operand(tensor, place); }

  Tensor parameter(const char *what, int64_t depth, bool reverse,
                   const Dims &shape) {
    std::string name = what + std::string("_l") + std::to_string(depth) +
                       (reverse ? "_reverse" : "");
    return net.parameter(layer.name.empty() ? name : layer.name + "." + name,
                         element, shape, uniformFanIn(layer.hidden), place);
  }

  /// A linear layer of this layer's variables.
  Tensor product(const Tensor &input, const char *which, int64_t depth,
                 bool reverse) {
    std::string suffix = which;
    int64_t rows = kind.gates * layer.hidden;
    Tensor weight = parameter(("weight_" + suffix).c_str(), depth, reverse,
                              {rows, input.size(-1)});
    LinearOptions options;
    if (layer.bias)
      options.bias =
          parameter(("bias_" + suffix).c_str(), depth, reverse, {rows});
    return linear(at(input), at(weight), options);
  }

  /// The buffer of a state that goes on in the next batch.
  std::string bufferOf(const char *what, size_t depth) const {
    return (layer.name.empty() ? "" : layer.name + ".") + what + "_l" +
           std::to_string(depth);
  }

  /// The states before the first time step.
  States begin(const Tensor &input, size_t index) {
    States states;
    auto add = [&](const std::vector<Tensor> &given, const char *what,
                   int64_t features) {
      Dims shape{input.size(0), features};
      Tensor none = broadcast(at(zero()), {element, shape});
      if (layer.keepsState)
        none = inTraining(at(net.buffer(bufferOf(what, index), element, shape,
                                        zeros(), place)),
                          none);
      states.push_back(index < given.size() ? given[index] : none);
    };
    add(first.hidden, "hidden", out);
    if (kind.hasCell)
      add(first.cell, "cell", layer.hidden);
    return states;
  }

  /// Lets the next batch begin with what this one ends with.
  void keep(const States &last, size_t index) {
    net.write(bufferOf("hidden", index), at(last[0]));
    if (kind.hasCell)
      net.write(bufferOf("cell", index), at(last[1]));
  }

  /// Whether a sequence has a time step: [batch, steps].
  Tensor stepsThatAre(const Tensor &input) const {
    Dims shape{input.size(0), input.size(1)};
    Tensor step = iota({net, place}, {I32, {shape[1]}}, 0);
    Tensor count = reshape(at(layer.lengths), {shape[0], 1});
    return broadcast(at(step), {I32, shape}) <
           broadcast(at(count), {I32, shape});
  }

  /// What `now` has in the rows where a flag [batch] is set.
  Tensor whereSet(const Tensor &flag, const Tensor &now,
                  const Tensor &otherwise) const {
    return select(at(reshape(at(flag), {now.size(0), 1})), now, otherwise);
  }
  Tensor zero() const { return constant({net, place}, 0, element); }

  /// Leaves the states as they were where there is no time step.
  Scanned masked(const States &after, const States &before,
                 const Tensor &flag) const {
    Scanned result{{}, {whereSet(flag, after[0], zero())}};
    for (size_t i = 0; i < after.size(); ++i)
      result.carried.push_back(whereSet(flag, after[i], before[i]));
    return result;
  }

  /// All time steps of one layer in one direction.
  Tensor direction(const Tensor &input, int64_t depth, bool reverse,
                   RecurrentState &last) {
    // What does not wait for the step before is one product of all time steps.
    Tensor products = product(input, "ih", depth, reverse);
    Tensor projection = kind.projection
                            ? parameter("weight_hr", depth, reverse,
                                        {kind.projection, layer.hidden})
                            : Tensor();
    std::vector<Tensor> over{products};
    if (layer.lengths)
      over.push_back(isThere);
    if (layer.begins)
      over.push_back(goesOn);
    auto step = [&](States before, const States &slices) -> Scanned {
      if (layer.begins)
        for (Tensor &state : before)
          state = whereSet(slices.back(), state, zero());
      Tensor hidden = product(before[0], "hh", depth, reverse);
      States after = kind.cell(slices[0], hidden, before);
      if (kind.projection)
        after[0] = linear(at(after[0]), at(projection));
      return layer.lengths ? masked(after, before, slices[1])
                           : Scanned{after, {after[0]}};
    };
    Scanned all =
        net.scan(Operands(begin(input, last.hidden.size()), place),
                 Operands(over, place), {.dim = 1, .reverse = reverse}, step);
    if (layer.keepsState)
      keep(all.carried, last.hidden.size());
    last.hidden.push_back(all.carried[0]);
    if (kind.hasCell)
      last.cell.push_back(all.carried[1]);
    return all.stacked[0];
  }

  Graph &net;
  Place place;
  const Recurrent &layer;
  const Kind &kind;
  const RecurrentState &first;
  ElementType element;
  int64_t out;    ///< features that a time step hands on
  Tensor isThere; ///< whether a sequence has a time step
  Tensor goesOn;  ///< whether a time step is of the same text as the last
};

/// Returns what is wrong with where sequences begin and end, or "".
std::string mistakeInTexts(const Tensor &input, const Recurrent &layer,
                           const RecurrentState &first) {
  int64_t batch = input.size(0), steps = input.size(1);
  if (const Tensor &lengths = layer.lengths;
      lengths && (lengths.element() != I32 || lengths.shape() != Dims{batch}))
    return "lengths of " + lengths.type() + ", expected i32 [batch]";
  if (layer.begins && layer.begins.shape() != Dims{batch, steps})
    return "begins of " + layer.begins.type() + ", expected [batch, steps]";
  if (layer.bidirectional && (layer.begins || layer.keepsState))
    return "a direction from the end does not know where a text begins";
  if (!layer.keepsState)
    return "";
  if (batch == Batch)
    return "states that are kept need a batch of a known size";
  if (!first.hidden.empty())
    return "states are given, and kept too";
  return "";
}

/// Returns what is wrong with a layer, or "".
std::string mistakeIn(const Operand &input, const Recurrent &layer,
                      const Kind &kind, const RecurrentState &first) {
  if (input.tensor.rank() != 3)
    return "expected [batch, steps, features]";
  if (input.tensor.size(1) == Batch || input.tensor.size(2) == Batch)
    return "only the batch is not known beforehand";
  if (layer.hidden <= 0 || layer.layers <= 0)
    return std::to_string(layer.layers) + " layers of " +
           std::to_string(layer.hidden) + " features, expected at least 1";
  if (kind.projection < 0 || kind.projection >= layer.hidden)
    return "a projection to " + std::to_string(kind.projection) + " of " +
           std::to_string(layer.hidden) + " features";
  size_t states = statesOf(layer);
  for (size_t given : {first.hidden.size(), first.cell.size()})
    if (given && given != states)
      return std::to_string(given) + " first states, expected " +
             std::to_string(states) + ", one for each layer and direction";
  return mistakeInTexts(input.tensor, layer, first);
}

RecurrentResult run(const Operand &input, const Recurrent &layer,
                    const Kind &kind, const RecurrentState &first) {
  Tensor nothing = input.tensor;
  if (input.tensor) {
    std::string what = mistakeIn(input, layer, kind, first);
    if (what.empty())
      return Layers(input, layer, kind, first).run(input.tensor);
    nothing = Graph::of(input.tensor)
                  .mistake(std::string(kind.name) + " '" + layer.name +
                               "' on " + input.tensor.type() + ": " + what,
                           input.place);
  }
  RecurrentResult result{nothing, {}};
  fill(result.state, layer, kind, nothing);
  return result;
}

/// The gates of a product, in their order.
std::vector<Tensor> split(const Tensor &product, int64_t gates) {
  std::vector<Tensor> parts;
  int64_t features = product.size(1) / gates;
  for (int64_t gate = 0; gate < gates; ++gate)
    parts.push_back(slice(product, {0, gate * features}, {-1, features}));
  return parts;
}
} // namespace

RecurrentResult lstm(const Operand &input, const Lstm &layer,
                     const RecurrentState &first) {
  auto cell = [](const Tensor &products, const Tensor &hidden,
                 const States &before) -> States {
    auto gate = split(products + hidden, 4);
    Tensor state =
        sigmoid(gate[1]) * before[1] + sigmoid(gate[0]) * tanh(gate[2]);
    return {sigmoid(gate[3]) * tanh(state), state};
  };
  return run(input, layer, {"lstm", 4, cell, layer.projection, true}, first);
}

RecurrentResult gru(const Operand &input, const Gru &layer,
                    const RecurrentState &first) {
  auto cell = [](const Tensor &products, const Tensor &hidden,
                 const States &before) -> States {
    auto in = split(products, 3), own = split(hidden, 3);
    Tensor reset = sigmoid(in[0] + own[0]), update = sigmoid(in[1] + own[1]);
    Tensor fresh = tanh(in[2] + reset * own[2]);
    return {fresh + update * (before[0] - fresh)};
  };
  return run(input, layer, {"gru", 3, cell}, first);
}

RecurrentResult rnn(const Operand &input, const Rnn &layer,
                    const RecurrentState &first) {
  auto cell = [&](const Tensor &products, const Tensor &hidden,
                  const States &) -> States {
    Tensor sum = products + hidden;
    return {layer.relu ? relu(sum) : tanh(sum)};
  };
  return run(input, layer, {"rnn", 1, cell}, first);
}

} // namespace mantissa
