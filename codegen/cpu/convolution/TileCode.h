//===- TileCode.h - what convolutions in tiles share ------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_CONVOLUTION_TILECODE_H
#define MP_CODEGEN_CPU_CONVOLUTION_TILECODE_H

#include "codegen/cpu/convolution/Convolution.h"
#include "codegen/cpu/convolution/ConvolutionCode.h"
#include "codegen/cpu/convolution/TilePlan.h"

namespace mp::cpu {

/// Copies the rows of an image that places read into scratch, with zeros where
/// the image has none. Rows are written in order: what is written past the end
/// of one is overwritten.
struct PaddedCopy {
  const SlidingProduct &product;
  const PaddedAxis &rows, &columns;
  int64_t channels; ///< of a pixel in scratch; those past the image's are 0
  int64_t lanes;    ///< elements of scratch in a vector
  FlatMemory scratch;
  /// Loads what is stored for the elements of an image from `at` on, and zeros
  /// where `mask` is off.
  llvm::function_ref<mlir::Value(mlir::Value at, mlir::Value mask)> load;

  /// Row 0 of the scratch, at `to`, is row `first` of the image, if it has it.
  void emit(ConvolutionBuilder &b, mlir::Value group, mlir::Value first,
            mlir::Value to) const;

private:
  void copyRow(ConvolutionBuilder &b, mlir::Value from, mlir::Value to) const;
  void spreadPixels(ConvolutionBuilder &b, int64_t count, mlir::Value from,
                    mlir::Value to) const;
  void clear(ConvolutionBuilder &b, mlir::Value at, int64_t count) const;
};

/// Emits the launch that packs `weight` into a new temporary, which it returns:
///   packed[group, panel, row tap, run, pair of its elements, 16, 2].
llvm::FailureOr<KernelArgument> emitTilePack(const SlidingProduct &product,
                                             const TilePlan &plan,
                                             const LayoutTensor &weight,
                                             ObjectCompiler &compiler,
                                             EmittedKernel &kernel);

/// emitConvolution where there is a tileUnitFor it.
mlir::LogicalResult emitTileConvolution(const SlidingProduct &product,
                                        const ConvolutionTensors &tensors,
                                        unsigned workers, TileUnit unit,
                                        ObjectCompiler &compiler,
                                        EmittedKernel &kernel);

/// emitWeightGradient where there is a tileUnitFor it.
mlir::LogicalResult
emitTileWeightGradient(const SlidingProduct &product,
                       const LayoutTensor &source, const LayoutTensor &gradient,
                       const LayoutTensor &result, TileUnit unit,
                       ObjectCompiler &compiler, EmittedKernel &kernel);

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_CONVOLUTION_TILECODE_H
