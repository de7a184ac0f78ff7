//===- TensorScales.h - a scale for each 8-bit tensor -----------*- C++ -*-===//
//
// Delayed scaling, as in Transformer Engine: a tensor's scale comes from its
// largest magnitudes ("amax") in the steps before, so that it is known before
// the tensor is, and a tensor is read once.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_STEP_TENSORSCALES_H
#define MP_PASSES_STEP_TENSORSCALES_H

#include "passes/analysis/VariableTable.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace mp {

/// A tensor times its scale in 8 bits, the scale and one over it (f32, rank 0).
struct ScaledTensor {
  mlir::Value bits, scale, inverseScale;
};

class TensorScales {
public:
  /// With `hasHistory`, scales come from variables, which a step (a function
  /// with mp.seed) updates; without, from the tensor itself.
  TensorScales(mlir::func::FuncOp function, bool hasHistory);

  /// Returns the value in `type`, directly after it. Finite numbers saturate;
  /// others stay non-finite, so that the step's check finds them. `name` begins
  /// the names of its variables. A gradient's history is that of unscaled
  /// gradients.
  ScaledTensor scale(mlir::Value value, mlir::FloatType type,
                     StorageAttr storage, llvm::StringRef name,
                     bool isGradient = false);
  /// Returns a value that is computed again, by the scale that it had.
  static ScaledTensor scaleAgain(mlir::Value value, const ScaledTensor &first);
  /// Writes the variables that all scales share.
  void finish();

private:
  mlir::Value largestSoFar(mlir::ImplicitLocOpBuilder &b, mlir::Value amax,
                           StorageAttr storage, llvm::StringRef name,
                           mlir::Value lossScale);
  void skipWhere(mlir::Value foundInf);
  mlir::Value positionIn(int64_t length);

  mlir::func::FuncOp function;
  VariableTable variables;
  bool hasHistory, isStep;
  mlir::Value lossScale; ///< null if there is none
  llvm::StringSet<> names;
  /// The place of this step's amax, by the length of the histories.
  std::map<int64_t, mlir::Value> positions;
};

} // namespace mp

#endif // MP_PASSES_STEP_TENSORSCALES_H
