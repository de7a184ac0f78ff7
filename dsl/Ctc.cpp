//===- Ctc.cpp - connectionist temporal classification --------------------===//
//
// The labels with a blank before and after each are a row of states. A path
// stays in its state, goes on to the next, or leaves out a blank between two
// labels that differ. The scan carries the logarithm of the probability of all
// paths that end in a state.
//
//===----------------------------------------------------------------------===//
#include "dsl/Ctc.h"
#include <limits>

namespace mantissa {

namespace {
/// The logarithm of a probability of 0: small enough that its exponential is 0
/// beside any other, and finite, so that differences of it are numbers.
constexpr double kNever = -1e30;

/// log(exp(a) + exp(b) + exp(c)).
Tensor logAddExp(const Tensor &a, const Tensor &b, const Tensor &c) {
  Tensor largest = stopGradient(maximum(maximum(a, b), c));
  return largest + log(exp(a - largest) + exp(b - largest) + exp(c - largest));
}

/// Time steps and their labels.
class Sequences {
protected:
  Sequences(const Operand &logits, const Operand &targets, const CtcLoss &loss)
      : net(Graph::of(logits.tensor)), place(logits.place), loss(loss),
        logits(logits.tensor), targets(targets.tensor),
        batch(this->logits.size(0)), time(this->logits.size(1)),
        labels(this->targets.size(1)) {}

  Operand at(const Tensor &tensor) const { return Operand(tensor, place); }
  Tensor number(double value, ElementType element = F32) const {
    return constant({net, place}, value, element);
  }
  Tensor row(int64_t size) const {
    return iota({net, place}, {I32, {size}}, 0);
  }
  Tensor full(double value, const Dims &shape,
              ElementType element = F32) const {
    return broadcast(at(number(value, element)), {element, shape});
  }
  Tensor join(const std::vector<Tensor> &parts, int64_t dim) const {
    return concat(Operands(parts, place), dim);
  }

  /// The lengths of the targets, i32 [batch].
  Tensor lengths() const {
    return loss.labels ? loss.labels : full(labels, {batch}, I32);
  }

  Graph &net;
  Place place;
  const CtcLoss &loss;
  Tensor logits, targets;
  int64_t batch, time, labels;
};

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

class Ctc : Sequences {
public:
  Ctc(const Operand &logits, const Operand &targets, const CtcLoss &loss)
      : Sequences(logits, targets, loss), states(2 * labels + 1) {}

  Tensor run() {
    Tensor scores = scoresOfStates(), skips = mayLeaveOut();
    auto step = [&](const std::vector<Tensor> &before,
                    const std::vector<Tensor> &now) -> Scanned {
      Tensor ends = before[0];
      Tensor next = logAddExp(ends, shifted(ends, 1),
                              select(skips, shifted(ends, 2), never())) +
                    now[0];
      if (loss.steps)
        next = select(broadcast(now[1] > 0, {batch, states}), next, ends);
      return {{next}, {}};
    };
    std::vector<Tensor> over{scores};
    if (loss.steps)
      over.push_back(cast(
          broadcast(reshape(row(time), {1, time, 1}), {batch, time, 1}) <
              broadcast(reshape(loss.steps, {batch, 1, 1}), {batch, time, 1}),
          F32));
    Tensor ends = net.scan(Operands({begin()}, place), Operands(over, place),
                           {.dim = 1}, step)
                      .carried[0];
    return reduced(lossOf(ends));
  }

private:
  Tensor never() const { return full(kNever, {batch, states}); }

  /// Before the first time step, a path can only go on to the first blank, or
  /// to the first label.
  Tensor begin() const {
    return join({full(0, {batch, 1}), full(kNever, {batch, states - 1})}, 1);
  }

  /// What is `by` states before each.
  Tensor shifted(const Tensor &ends, int64_t by) const {
    return join(
        {full(kNever, {batch, by}), slice(ends, {0, 0}, {-1, states - by})}, 1);
  }

  /// Log-probabilities [batch, time, states]: blank, label, blank, ..., blank.
  Tensor scoresOfStates() const {
    Tensor classes = transpose(logSoftmax(at(cast(logits, F32)), 2), {0, 2, 1});
    Tensor blanks = slice(classes, {0, loss.blank, 0}, {-1, 1, time});
    Tensor said = gather(classes, at(targets), 1, {.batched = true});
    Dims pair{batch, labels, 1, time};
    Tensor pairs = join({broadcast(reshape(blanks, {batch, 1, 1, time}), pair),
                         reshape(said, pair)},
                        2);
    Tensor all = join({reshape(pairs, {batch, 2 * labels, time}), blanks}, 1);
    return transpose(all, {0, 2, 1});
  }

  /// Whether a path may come from two states before: from another label.
  Tensor mayLeaveOut() const {
    Tensor own = cast(targets, I32), before = full(loss.blank, {batch, 1}, I32);
    if (labels > 1)
      before = join({before, slice(own, {0, 0}, {-1, labels - 1})}, 1);
    Tensor differs = cast(compare(own, before, Comparison::ne), F32);
    Tensor pairs = join(
        {full(0, {batch, labels, 1}), reshape(differs, {batch, labels, 1})}, 2);
    return join({reshape(pairs, {batch, 2 * labels}), full(0, {batch, 1})}, 1) >
           0;
  }

  /// Of each sample: paths end in the last label, or in the blank after it.
  Tensor lossOf(const Tensor &ends) const {
    Tensor last = reshape(lengths() * number(2, I32), {batch, 1});
    Tensor distance = last - reshape(row(states), {1, states});
    Tensor isEnd =
        logicalAnd(distance >= number(0, I32), distance <= number(1, I32));
    Tensor each = -logsumexp(select(isEnd, ends, never()), {1});
    double impossible =
        loss.zeroInfinity ? 0 : std::numeric_limits<double>::infinity();
    return select(each < number(-kNever / 2), each, full(impossible, {batch}));
  }

  Tensor reduced(const Tensor &each) const {
    if (loss.reduction == LossReduction::none)
      return each;
    if (loss.reduction == LossReduction::sum)
      return sum(each);
    return mean(each / maximum(cast(lengths(), F32), number(1)));
  }

  int64_t states;
};

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// The scan carries a row of the table of edit distances: from what has been
/// said up to a time step to the first 0, 1, ... labels.
class Errors : Sequences {
public:
  Errors(const Operand &logits, const Operand &targets, const CtcLoss &loss)
      : Sequences(logits, targets, loss) {}

  Tensor run() {
    Tensor best = argmax(at(logits), 2, {.dtype = I32});
    auto step = [&](const std::vector<Tensor> &before,
                    const std::vector<Tensor> &now) -> Scanned {
      Tensor isSaid = reshape(now[1], {batch, 1}) > 0;
      return {{select(isSaid, extended(before[0], now[0]), before[0])}, {}};
    };
    Tensor first =
        broadcast(cast(at(row(labels + 1)), F32), {F32, {batch, labels + 1}});
    Tensor last =
        net.scan(Operands({first}, place), Operands({best, said(best)}, place),
                 {.dim = 1}, step)
            .carried[0];
    Tensor isEnd = compare(row(labels + 1), reshape(lengths(), {batch, 1}),
                           Comparison::eq);
    Tensor count = sum(cast(at(lengths()), F32));
    return sum(select(isEnd, last, number(0))) / maximum(count, number(1));
  }

private:
  /// Farther than any label, and exact beside small numbers.
  static constexpr double kFar = 1 << 20;

  /// 1 where a time step says a label: not the blank, nor what the time step
  /// before says, nor after the sample's end. f32 [batch, time].
  Tensor said(const Tensor &best) const {
    Tensor before = full(loss.blank, {batch, 1}, I32);
    if (time > 1)
      before = join({before, slice(best, {0, 0}, {-1, time - 1})}, 1);
    Tensor isLabel =
        logicalAnd(compare(best, number(loss.blank, I32), Comparison::ne),
                   compare(best, before, Comparison::ne));
    if (loss.steps)
      isLabel =
          logicalAnd(isLabel, row(time) < reshape(at(loss.steps), {batch, 1}));
    return cast(isLabel, F32);
  }

  /// The row after one more label has been said: it is wrong, or it stands for
  /// a label, or labels after that one are missing.
  Tensor extended(const Tensor &before, const Tensor &label) const {
    Tensor differs = cast(
        compare(cast(targets, I32), reshape(label, {batch, 1}), Comparison::ne),
        F32);
    Tensor stands = slice(before, {0, 0}, {-1, labels}) + differs;
    Tensor least =
        minimum(before + number(1), join({full(kFar, {batch, 1}), stands}, 1));
    int64_t places = labels + 1;
    Tensor missing = reshape(row(places), {places, 1}) - row(places);
    Tensor edits =
        select(missing >= number(0, I32), cast(missing, F32), number(kFar));
    return min(reshape(least, {batch, 1, places}) + edits, {2});
  }
};

/// Returns what is wrong, or "".
std::string mistakeIn(const Tensor &logits, const Tensor &targets,
                      const CtcLoss &loss) {
  if (logits.rank() != 3 || targets.rank() != 2)
    return "expected logits [batch, steps, classes] and targets [batch, "
           "labels]";
  for (int64_t size : {logits.size(1), logits.size(2), targets.size(1)})
    if (size == Batch || size < 1)
      return "only the batch is not known beforehand, and nothing is empty";
  if (logits.size(0) != targets.size(0))
    return "the batches differ";
  if (loss.blank < 0 || loss.blank >= logits.size(2))
    return "blank is class " + std::to_string(loss.blank) + " of " +
           std::to_string(logits.size(2));
  for (const Tensor &lengths : {loss.steps, loss.labels})
    if (lengths &&
        (lengths.element() != I32 || lengths.shape() != Dims{logits.size(0)}))
      return "lengths are " + lengths.type() + ", expected i32 [batch]";
  if (loss.reduction == LossReduction::batchmean)
    return "batchmean is no reduction of it";
  return "";
}
} // namespace

template <typename Result>
static Tensor run(const char *function, const Operand &logits,
                  const Operand &targets, const CtcLoss &loss) {
  if (!logits.tensor || !targets.tensor)
    return logits.tensor ? targets.tensor : logits.tensor;
  std::string what = mistakeIn(logits.tensor, targets.tensor, loss);
  if (what.empty())
    return Result(logits, targets, loss).run();
  return Graph::of(logits.tensor)
      .mistake(std::string(function) + " of " + logits.tensor.type() + " and " +
                   targets.tensor.type() + ": " + what,
               logits.place);
}

Tensor ctcLoss(const Operand &logits, const Operand &targets,
               const CtcLoss &loss) {
  return run<Ctc>("ctcLoss", logits, targets, loss);
}

Tensor ctcErrorRate(const Operand &logits, const Operand &targets,
                    const CtcLoss &loss) {
  return run<Errors>("ctcErrorRate", logits, targets, loss);
}

} // namespace mantissa
