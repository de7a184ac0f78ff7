//===- ConvolutionCode.h - what the loops of convolutions share -*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONVOLUTION_CONVOLUTIONCODE_H
#define MP_CODEGEN_CPU_CONVOLUTION_CONVOLUTIONCODE_H

#include "codegen/cpu/convolution/ConvolutionPlan.h"
#include "codegen/cpu/layout/LayoutBuilder.h"

namespace mp::cpu {

class ConvolutionBuilder : public LayoutBuilder {
public:
  using LayoutBuilder::LayoutBuilder;

  mlir::Value maxSigned(mlir::Value x, mlir::Value y);
  /// x * y + sum of vectors.
  mlir::Value multiplyAdd(const ConvolutionPlan &plan, mlir::Value x,
                          mlir::Value y, mlir::Value sum);
  /// The taps [first, second) of place `at`, or the places of tap `at`, that
  /// have a source: distance * i + at * scale + first lies in [0, size).
  std::pair<mlir::Value, mlir::Value> insideRange(mlir::Value origin,
                                                  int64_t distance,
                                                  int64_t count, int64_t size);
};

/// Rows of an image that lie in scratch as accumulators, or in their place.
struct SourceRows {
  FlatMemory memory;
  int64_t pixel, row; ///< distances of neighbours
  mlir::Value origin; ///< where row 0 begins, modulo 2^64
};

/// Widens rows [first, last) of an image into scratch: `channels` from
/// `channel` on of each pixel.
struct RowCopy {
  FlatMemory source, scratch;
  mlir::Type accumulator;
  int64_t columns, pixel, channels, lanes;
  mlir::Value image; ///< where its first channel begins
  mlir::Value first, last;

  void emit(ConvolutionBuilder &b) const;
  SourceRows rows(ConvolutionBuilder &b) const;
};

/// Finds the rows of an image's group that places [first, last) need. Without
/// `scratch` they are read in their place; else they are widened into it.
SourceRows findSourceRows(ConvolutionBuilder &b, const SlidingProduct &product,
                          const ConvolutionPlan &plan, const FlatMemory &source,
                          std::optional<FlatMemory> scratch, mlir::Value image,
                          mlir::Value group, mlir::Value first,
                          mlir::Value last);

/// The weight as a convolution reads it:
///   packed[group, panel, row tap, column tap, in, tile],
/// accumulators, with zeros past the last channel.
struct PackedWeight {
  int64_t tile; ///< channels of the result
  int64_t panels, rowTaps, columnTaps, in;

  int64_t rowStride() const { return columnTaps * in * tile; }
  int64_t panelStride() const { return rowTaps * rowStride(); }
};

/// Emits the launch that packs `weight` into a new temporary, which it returns.
llvm::FailureOr<KernelArgument>
emitPack(const SlidingProduct &product, const ConvolutionPlan &plan,
         const PackedWeight &packed, const LayoutTensor &weight,
         ObjectCompiler &compiler, EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONVOLUTION_CONVOLUTIONCODE_H
