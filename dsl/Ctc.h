//===- Ctc.h - connectionist temporal classification ------------*- C++ -*-===//
#ifndef MANTISSA_DSL_CTC_H
#define MANTISSA_DSL_CTC_H

#include "dsl/Graph.h"

namespace mantissa {

/// torch.nn.CTCLoss, with the batch first.
struct CtcLoss {
  int64_t blank = 0; ///< the class between labels
  /// none: a loss for each sample; sum: their sum; mean: each is divided by the
  /// length of its target, if that is not 0, and the mean of these is taken.
  LossReduction reduction = LossReduction::mean;
  /// A target that is too long for its time steps has a loss of 0, and no
  /// gradient. Otherwise its loss is infinite, and its gradients are 0.
  bool zeroInfinity = false;
  /// i32 [batch]: how many of the time steps and of the labels count, of each
  /// sample; none: all of them.
  Tensor steps = {}, labels = {};
};

/// The negative logarithm of the probability of all ways to say `targets` in
/// order, with blanks between, and labels that last longer than a time step.
/// `logits` are [batch, steps, classes], and need not be normalized; `targets`
/// are [batch, labels] of integers in [0, classes) that are not `blank`.
/// Labels beyond the length of a target may be any class. Computed in f32, by
/// a scan over the time steps (Graves et al., 2006).
Tensor ctcLoss(const Operand &logits, const Operand &targets,
               const CtcLoss &loss = {});

/// The label error rate (Graves et al., 2006, section 2.1) of the best class of
/// each time step, without blanks and repetitions: how many labels have to be
/// inserted, deleted or replaced to make `targets` of them, divided by the
/// number of labels. f32, and without a gradient; the reduction does not
/// matter.
Tensor ctcErrorRate(const Operand &logits, const Operand &targets,
                    const CtcLoss &loss = {});

} // namespace mantissa

#endif // MANTISSA_DSL_CTC_H
