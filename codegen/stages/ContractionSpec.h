//===- ContractionSpec.h - a matrix product, for any target -----*- C++ -*-===//
#ifndef MP_CODEGEN_STAGES_CONTRACTIONSPEC_H
#define MP_CODEGEN_STAGES_CONTRACTIONSPEC_H

#include "mlir/IR/Types.h"
#include "program/Program.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mp {

/// c = relu?(a b + bias), for each index of the batch dimensions. Tensors are
/// dense and row-major:
///   a [batch, m, k] ([batch, k, m] with transposeA), b [batch, k, n] ([batch,
///   n, k] with transposeB), bias [n], c [batch, m, n].
/// All sizes are at least 1. Elements are floats of up to 64 bits or integers
/// of up to 64, signless or unsigned; a and b are both floats or both integers.
struct ContractionSpec {
  llvm::SmallVector<int64_t> batch;
  int64_t m = 1, n = 1, k = 1;
  mlir::Type a, b, c;
  std::optional<mlir::Type> bias;
  bool transposeA = false, transposeB = false;
  bool broadcastA = false,
       broadcastB = false; ///< one matrix for the whole batch
  bool relu = false;
  bool tf32 = false;   ///< f32 operands may be rounded to tf32 first
  bool keepsB = false; ///< the product is repeated with other a and this b

  /// The multiplications and additions of the product alone.
  uint64_t flops() const;
};

/// Returns the attributes that library routines of this form have in common: m,
/// n, k, a_strides, b_strides, a_type, c_type, bias, bias_type, relu (see
/// mp::Call).
std::vector<std::pair<std::string, Call::Attribute>>
callAttributes(const ContractionSpec &spec);

} // namespace mp

#endif // MP_CODEGEN_STAGES_CONTRACTIONSPEC_H
