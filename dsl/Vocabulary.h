//===- Vocabulary.h - losses of very many classes ---------------*- C++ -*-===//
#ifndef MANTISSA_DSL_VOCABULARY_H
#define MANTISSA_DSL_VOCABULARY_H

#include "dsl/Graph.h"

namespace mantissa {

/// torch.nn.AdaptiveLogSoftmaxWithLoss (Grave et al., 2017): frequent classes
/// have an output each, and rare ones share one for their cluster, in which
/// fewer features tell them apart.
struct AdaptiveSoftmax {
  int64_t classes = 0; ///< ordered by frequency, the most frequent first
  /// The first class of each cluster, ascending; those before the first one
  /// are in none.
  Dims cutoffs = {};
  /// Of its variables: name.head.weight [cutoffs[0] + clusters, in],
  /// name.head.bias, and of cluster I name.tail.I.0.weight [features, in] and
  /// name.tail.I.1.weight [classes of it, features].
  std::string name = {};
  double divValue = 4.0; ///< each cluster has so many times fewer features
  bool headBias = false;
};
/// The mean over all rows of the negative logarithm of a target's probability.
/// `input` is [rows, in], `targets` are [rows] of integers in [0, classes).
/// What belongs to a cluster is computed for all rows, since shapes are static.
Tensor adaptiveSoftmaxLoss(const Operand &input, const Operand &targets,
                           const AdaptiveSoftmax &layer);

/// tf.nn.sampled_softmax_loss with tf.random.log_uniform_candidate_sampler and
/// without `unique` (Jean et al., 2015).
struct SampledSoftmax {
  int64_t classes = 0; ///< ordered by frequency, the most frequent first
  int64_t samples = 0; ///< classes that are drawn in each step, for all rows
  /// Of its variables: name.weight [classes, in], name.bias [classes].
  std::string name = {};
  bool bias = true;
};
struct SampledSoftmaxResult {
  Tensor loss; ///< the mean over all rows
  /// i32 [samples]: class k with probability log((k + 2) / (k + 1)) /
  /// log(classes + 1).
  Tensor drawn;
};
/// The cross entropy of a target among itself and the classes that are drawn.
/// Of each score, the logarithm of how often its class is expected among the
/// draws is subtracted; a draw that is the row's own target does not count.
/// `input` is [rows, in], `targets` are [rows] of integers in [0, classes). It
/// is for training: evaluate with crossEntropy over all classes, of `linear`
/// of the same name.
SampledSoftmaxResult sampledSoftmaxLoss(const Operand &input,
                                        const Operand &targets,
                                        const SampledSoftmax &layer);

} // namespace mantissa

#endif // MANTISSA_DSL_VOCABULARY_H
