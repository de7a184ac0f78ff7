//===- AttentionBuilder.h - what both passes of attention share -*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_ATTENTION_ATTENTIONBUILDER_H
#define MP_CODEGEN_CPU_ATTENTION_ATTENTIONBUILDER_H

#include "codegen/cpu/attention/Attention.h"
#include "codegen/cpu/attention/TileProduct.h"
#include "codegen/cpu/layout/LayoutBuilder.h"

namespace mp::cpu {

/// The arguments of a function, in the order in which they are added.
class ArgumentList {
public:
  unsigned add(const LayoutTensor &tensor) {
    types.push_back({tensor.element(), tensor.count()});
    passed.push_back(tensor.argument);
    return types.size() - 1;
  }
  std::optional<unsigned> add(const std::optional<LayoutTensor> &tensor) {
    return tensor ? std::optional(add(*tensor)) : std::nullopt;
  }

  llvm::SmallVector<LoopBuilder::Argument> types;
  llvm::SmallVector<KernelArgument> passed;
};

/// Where the operands that change scores are among the arguments.
struct MaskPlaces {
  std::optional<unsigned> mask, lengths, slopes, dropoutKey;

  MaskPlaces(ArgumentList &arguments, const AttentionMasks &masks)
      : mask(arguments.add(masks.mask)), lengths(arguments.add(masks.lengths)),
        slopes(arguments.add(masks.slopes)),
        dropoutKey(arguments.add(masks.dropoutKey)) {}
};

/// A piece of scratch: `count` elements from byte `begin` on.
struct ScratchPiece {
  mlir::Type element;
  int64_t begin, count;

  FlatMemory in(LoopBuilder &b) const {
    return b.scratch(element, begin, count);
  }
};
/// Scratch that is given out piece by piece.
class ScratchSizes {
public:
  ScratchPiece take(mlir::Type element, int64_t count) {
    int64_t begin = total;
    total += llvm::alignTo(count * bytesOf(element), 64);
    return {element, begin, count};
  }
  int64_t total = 0;
};

/// How the products of an attention are computed.
struct ProductKind {
  ProductKind(mlir::Type element, const Target &target);

  mlir::Type accumulator;
  mlir::Type factor; ///< of packed operands: i16, the bits of bf16, for pairs
  bool fused;        ///< multiply and add round once
  int64_t inTerm;    ///< elements: two if pairs are multiplied

  int64_t terms(int64_t elements) const {
    return llvm::divideCeilSigned(elements, inTerm);
  }
  mlir::Value terms(LoopBuilder &b, mlir::Value elements) const {
    return b.div(b.add(elements, inTerm - 1), inTerm);
  }
  TileShape tileOf(const Target &target, int64_t columns) const {
    return TileShape::of(target, columns, bytesOf(accumulator));
  }
};

/// Which queries or keys are met: [first, second).
using Bounds = std::pair<mlir::Value, mlir::Value>;

class AttentionBuilder : public LayoutBuilder {
public:
  AttentionBuilder(const AttentionShape &shape, const ProductKind &kind,
                   int64_t lanes, const ArgumentList &arguments,
                   const MaskPlaces &places, int64_t scratchBytes);

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  /// The heads of a tensor [batch, tokens, heads, depth].
  struct Heads {
    FlatMemory memory;
    int64_t heads, depth;
    mlir::Value at; ///< of the first token of the head

    int64_t pitch() const { return heads * depth; }
  };
  Heads headsOf(unsigned argument, int64_t tokens, int64_t heads, int64_t depth,
                mlir::Value batch, mlir::Value head);

  /// Copies tokens to rows. What fills a row, and rows that make their number a
  /// multiple of `rowMultiple`, become zeros.
  void pack(const Heads &heads, const Bounds &tokens, const Rows &to,
            int64_t rowMultiple = 1);
  /// Copies tokens to columns: to panels from that of the first token on. What
  /// fills the last panel are tokens again.
  void packTransposed(const Heads &heads, const Bounds &tokens,
                      const Panels &to, const TileShape &tile);
  /// Copies tokens to the terms of a right operand, from that of the first
  /// token on: to rows, or to pairs of rows of which a last one may be zeros.
  void packTerms(const Heads &heads, const Bounds &tokens, const Rows &to);
  /// Rounds rows to tokens.
  void unpack(const Rows &from, const Heads &heads, const Bounds &tokens);
  void clear(const FlatMemory &memory, mlir::Value at, mlir::Value count);

  //===--------------------------------------------------------------------===//
  // Scores
  //===--------------------------------------------------------------------===//

  /// A vector of scores: of one query with neighbouring keys, or of one key
  /// with neighbouring queries.
  struct Scores {
    mlir::Value query, key; ///< of the first lane
    bool lanesAreQueries;
  };

  /// Finds what the head's masks are; call it before the functions below.
  void setHead(mlir::Value batch, mlir::Value head);
  /// The keys that queries in [first, last) look at, and the other way round.
  Bounds keysOf(mlir::Value first, mlir::Value last);
  Bounds queriesOf(mlir::Value first, mlir::Value last);
  /// Whether all of `part` is in `whole`.
  mlir::Value isWithin(const Bounds &part, const Bounds &whole);
  /// The lanes in [range.first, range.second), from `at` on.
  mlir::Value lanesIn(const Bounds &range, mlir::Value at);
  /// Rounds a vector of weights or of changes of scores to what products of
  /// `memory` multiply.
  mlir::Value rounded(mlir::Value vector, const FlatMemory &memory);
  /// Whether scores are changed by operands.
  bool changesScores() const { return places.mask || places.slopes; }
  const FlatMemory &dropoutKey() { return argument(*places.dropoutKey); }
  /// Adds what the operands add to scores that `mask` selects, if it is given.
  mlir::Value change(mlir::Value scores, const Scores &which, mlir::Value mask);

  //===--------------------------------------------------------------------===//
  // Arithmetic
  //===--------------------------------------------------------------------===//

  mlir::Value constant(double value); ///< in all lanes
  mlir::Value splat(mlir::Value scalar);
  mlir::Value firstLane(mlir::Value vector);
  /// The largest element, or the sum, in all lanes. A NaN is no maximum.
  mlir::Value maxOfLanes(mlir::Value x);
  mlir::Value sumOfLanes(mlir::Value x);
  mlir::Value larger(mlir::Value x, mlir::Value y);
  mlir::Value minSigned(mlir::Value x, mlir::Value y);
  mlir::Value maxSigned(mlir::Value x, mlir::Value y);
  mlir::Value minSigned(mlir::Value x, int64_t y) {
    return minSigned(x, index(y));
  }
  mlir::Value maxSigned(mlir::Value x, int64_t y) {
    return maxSigned(x, index(y));
  }
  /// x / y rounded up.
  mlir::Value divideUp(mlir::Value x, int64_t y) {
    return div(add(x, y - 1), y);
  }

  /// Compiles the function and adds its launch, an item a task.
  mlir::LogicalResult launchAttention(ObjectCompiler &compiler,
                                      EmittedKernel &kernel,
                                      const ArgumentList &arguments,
                                      int64_t items, int64_t scratchBytes,
                                      uint64_t flops);

  const AttentionShape &shape;
  const ProductKind &kind;
  mlir::Type accumulator;
  int64_t lanes;

private:
  /// Loads elements [v, v + lanes) of a token as `element`, or as its bits if
  /// that is an integer; those past the depth are zeros.
  mlir::Value loadPiece(const Heads &heads, mlir::Value token, int64_t v,
                        mlir::Type element);
  mlir::Value bitsOf(mlir::Value vector);
  void packTransposedPairs(const Heads &heads, llvm::ArrayRef<mlir::Value> from,
                           mlir::Value to, const Panels &panels);
  void packTransposedLines(const Heads &heads, llvm::ArrayRef<mlir::Value> from,
                           mlir::Value to, const Panels &panels);
  mlir::Value loadMask(const Scores &which, mlir::Value mask);
  mlir::Value addSlopes(mlir::Value scores, const Scores &which);
  mlir::Value reduceLanes(
      mlir::Value x,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  MaskPlaces places;
  mlir::Value keyCount; ///< of the batch entry
  mlir::Value maskAt;   ///< where the head's mask begins
  mlir::Value slope;    ///< in all lanes
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_ATTENTION_ATTENTIONBUILDER_H
