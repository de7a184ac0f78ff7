//===- AttentionCase.h - attention against a loop -------------------------===//
#ifndef MP_TEST_UNIT_ATTENTIONCASE_H
#define MP_TEST_UNIT_ATTENTIONCASE_H

#include "GoldenFunction.h"
#include <cmath>

namespace mp::test {

/// An attention, and what its queries look at. PyTorch's numbers for short ones
/// are in test/goldens/ops/attention.json; this is for long ones.
struct AttentionCase {
  int64_t batch = 1, tokens = 1, keys = 1, heads = 1, groups = 1;
  int64_t depth = 1, width = 1;
  std::string element = "f32";
  bool causal = false;
  std::optional<int64_t> window = {};
  int64_t offset = 0;
  std::vector<int64_t> mask = {}; ///< its shape, four dimensions; {}: no mask
  std::string maskElement = "f32";
  Numbers lengths = {}; ///< {}: none
  Numbers slopes = {};  ///< {}: none
  double dropout = 0;   ///< the probability

  double scale() const { return 1 / std::sqrt(double(depth)); }
  /// Whether a query looks at a key, but for a mask.
  bool looks(int64_t entry, int64_t token, int64_t key) const;
  /// The element of the mask for a score.
  int64_t maskElementOf(int64_t entry, int64_t head, int64_t token,
                        int64_t key) const;

  /// @f of the query, key, value, a gradient of the result, the mask, if any,
  /// and seed, attempt and micro-batch with a dropout: the result, log_sum_exp
  /// and the gradients of query, key and value.
  std::string text() const;
  /// Operands, drawn at random.
  std::vector<Numbers> inputs(unsigned seed = 1) const;
  /// The results by loops, from operands that are exact in their types.
  std::vector<Numbers> reference(llvm::ArrayRef<Numbers> inputs) const;

private:
  /// What mp.dropout makes of ones [batch, heads, tokens, keys].
  Numbers kept(llvm::ArrayRef<Numbers> key) const;
  std::string type(llvm::ArrayRef<int64_t> shape, llvm::StringRef of) const;
  std::string attributes() const;
};

} // namespace mp::test

#endif // MP_TEST_UNIT_ATTENTIONCASE_H
