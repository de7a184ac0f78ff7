//===- Vocabulary.cpp - losses of very many classes -----------------------===//
#include "dsl/Vocabulary.h"
#include "dsl/Layers.h"
#include <cmath>

namespace mantissa {

namespace {
/// What both losses begin with: rows of features, and a target for each.
class Rows {
protected:
  Rows(const Operand &input, const Operand &targets)
      : net(Graph::of(input.tensor)), place(input.place), input(input.tensor),
        targets(cast(targets, I32)), rows(input.tensor.size(0)) {}

  Operand at(const Tensor &tensor) const { return Operand(tensor, place); }
  Tensor number(double value, ElementType element) const {
    return constant({net, place}, value, element);
  }

  Graph &net;
  Place place;
  Tensor input, targets;
  int64_t rows;
};

std::string mistakeIn(const Tensor &input, const Tensor &targets,
                      int64_t classes) {
  if (input.rank() != 2 || targets.rank() != 1)
    return "expected [rows, features] and targets [rows]";
  if (input.size(1) == Batch || input.size(0) != targets.size(0))
    return "the rows differ, or their features are not known beforehand";
  if (classes < 2 || classes > INT32_MAX)
    return std::to_string(classes) + " classes";
  return "";
}

/// Reports what is wrong, and returns what is in place of a tensor.
Tensor refuse(const char *function, const std::string &name,
              const Operand &input, const std::string &what) {
  return Graph::of(input.tensor)
      .mistake(std::string(function) + " '" + name + "' of " +
                   input.tensor.type() + ": " + what,
               input.place);
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

class Adaptive : Rows {
public:
  Adaptive(const Operand &input, const Operand &targets,
           const AdaptiveSoftmax &layer)
      : Rows(input, targets), layer(layer), bounds(layer.cutoffs) {
    bounds.push_back(layer.classes);
  }

  Tensor run() {
    int64_t frequent = bounds[0], clusters = layer.cutoffs.size();
    Tensor head = linear(at(input), {.out = frequent + clusters,
                                     .name = layer.name + ".head",
                                     .bias = layer.headBias});
    Tensor label = targets, loss;
    for (int64_t i = 0; i < clusters; ++i) {
      Tensor isHere = logicalAnd(targets >= number(bounds[i], I32),
                                 targets < number(bounds[i + 1], I32));
      label = select(isHere, number(frequent + i, I32), label);
      Tensor part = lossIn(i, isHere);
      loss = loss ? loss + part : part;
    }
    return mean(loss + each(head, label));
  }

private:
  static Tensor each(const Tensor &logits, const Tensor &labels) {
    return crossEntropy(logits, labels, {.reduction = LossReduction::none});
  }

  /// Of each row, 0 if its target is elsewhere.
  Tensor lossIn(int64_t cluster, const Tensor &isHere) {
    int64_t first = bounds[cluster], size = bounds[cluster + 1] - first;
    auto features = static_cast<int64_t>(input.size(1) /
                                         std::pow(layer.divValue, cluster + 1));
    std::string name = layer.name + ".tail." + std::to_string(cluster);
    Tensor hidden = linear(
        at(input), {.out = features, .name = name + ".0", .bias = false});
    Tensor logits =
        linear(at(hidden), {.out = size, .name = name + ".1", .bias = false});
    // Rows of another cluster have the index that does not count.
    Tensor label =
        select(isHere, targets - number(first, I32), number(-100, I32));
    return each(logits, label);
  }

  const AdaptiveSoftmax &layer;
  Dims bounds;
};

std::string mistakeIn(const Tensor &input, const AdaptiveSoftmax &layer) {
  int64_t before = 0;
  for (int64_t cutoff : layer.cutoffs) {
    if (cutoff <= before || cutoff >= layer.classes)
      return "cutoffs ascend from 1 to less than " +
             std::to_string(layer.classes) + ", the number of classes";
    before = cutoff;
  }
  if (layer.cutoffs.empty())
    return "no cutoffs: without a cluster it is crossEntropy";
  double least = input.size(1) / std::pow(layer.divValue, layer.cutoffs.size());
  if (!(layer.divValue > 0) || least < 1)
    return "the last cluster has no features left";
  return "";
}

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

class Sampled : Rows {
public:
  Sampled(const Operand &input, const Operand &targets,
          const SampledSoftmax &layer)
      : Rows(input, targets), layer(layer) {}

  SampledSoftmaxResult run() {
    int64_t features = input.size(1);
    // The initial values of torch.nn.Linear.
    Tensor weight = net.parameter(layer.name + ".weight", input.element(),
                                  {layer.classes, features},
                                  kaimingUniform(std::sqrt(5.0)), place);
    Tensor drawn = draw();
    Tensor own = gather(at(weight), at(targets), 0);
    Tensor ownScore = sum(at(input * own), {1}, {.keepdim = true});
    LinearOptions options;
    if (layer.bias) {
      Tensor bias =
          net.parameter(layer.name + ".bias", input.element(), {layer.classes},
                        uniformFanIn(features), place);
      ownScore =
          ownScore + reshape(gather(at(bias), at(targets), 0), {rows, 1});
      options.bias = gather(at(bias), at(drawn), 0);
    }
    Tensor scores =
        linear(at(input), at(gather(at(weight), at(drawn), 0)), options);
    ownScore = ownScore - reshape(logExpected(targets), {rows, 1});
    scores = scores - logExpected(drawn);
    Tensor isOwn = compare(reshape(targets, {rows, 1}), drawn, Comparison::eq);
    // Finite, so that a difference of two of them is a number.
    scores = select(isOwn, number(-1e30, F32), cast(scores, F32));
    Tensor logits = concat(Operands({cast(ownScore, F32), scores}, place), 1);
    // As many as the targets, which may be several of each sample.
    Tensor first = targets * number(0, I32);
    return {crossEntropy(logits, first), drawn};
  }

private:
  /// Class k is drawn if the logarithm of k + 1 and that of k + 2 enclose a
  /// uniform number.
  Tensor draw() {
    double range = std::log1p(double(layer.classes));
    Tensor power =
        uniform({net, place}, {F32, {layer.samples}}) * number(range, F32);
    Tensor index = cast(floor(exp(power)), I32) - number(1, I32);
    return maximum(minimum(index, number(layer.classes - 1, I32)),
                   number(0, I32));
  }

  /// How often a class is expected among the draws, as a logarithm.
  Tensor logExpected(const Tensor &index) const {
    Tensor k = cast(index, F32);
    double factor = layer.samples / std::log1p(double(layer.classes));
    return log(log1p(number(1, F32) / (k + number(1, F32))) *
               number(factor, F32));
  }

  const SampledSoftmax &layer;
};
} // namespace

Tensor adaptiveSoftmaxLoss(const Operand &input, const Operand &targets,
                           const AdaptiveSoftmax &layer) {
  if (!input.tensor || !targets.tensor)
    return input.tensor ? targets.tensor : input.tensor;
  std::string what = mistakeIn(input.tensor, targets.tensor, layer.classes);
  if (what.empty())
    what = mistakeIn(input.tensor, layer);
  return what.empty() ? Adaptive(input, targets, layer).run()
                      : refuse("adaptiveSoftmaxLoss", layer.name, input, what);
}

SampledSoftmaxResult sampledSoftmaxLoss(const Operand &input,
                                        const Operand &targets,
                                        const SampledSoftmax &layer) {
  Tensor nothing = input.tensor ? targets.tensor : input.tensor;
  if (bool(input.tensor) && bool(targets.tensor)) {
    std::string what = mistakeIn(input.tensor, targets.tensor, layer.classes);
    if (what.empty() && layer.samples < 1)
      what = std::to_string(layer.samples) + " samples";
    if (what.empty())
      return Sampled(input, targets, layer).run();
    nothing = refuse("sampledSoftmaxLoss", layer.name, input, what);
  }
  return {nothing, nothing};
}

} // namespace mantissa
