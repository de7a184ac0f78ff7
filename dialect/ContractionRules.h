//===- ContractionRules.h - rules that contractions share -------*- C++ -*-===//
#ifndef MP_DIALECT_CONTRACTIONRULES_H
#define MP_DIALECT_CONTRACTIONRULES_H

#include "dialect/Mp.h"

namespace mp {

/// "?" for the batch, whose size is not known yet.
std::string sizeText(int64_t size);
/// Returns nothing for "?".
std::optional<int64_t> staticSize(int64_t size);
bool isEmpty(mlir::Value value);
bool isFloat8(mlir::Type type);

/// Whether an op sums products of its first two operands and adds a bias at
/// most, so that factors of 8 bits that are scaled scale the result. Attention
/// is a contraction, too, but has a softmax between its products.
bool isProduct(AutocastOpInterface op);

/// Both factors have one type, or are 8-bit floats; a bias, which may be null,
/// has the type of the result.
llvm::LogicalResult checkFactors(std::optional<mlir::Location> location,
                                 mlir::Value lhs, mlir::Value rhs,
                                 mlir::Value bias = {});
/// The element type of a product: that of the factors, or f32 if sums are not
/// rounded.
mlir::Type productElement(mlir::Type factor,
                          std::optional<mlir::Type> outDtype);
/// `compute` can only be tf32, for f32 operands; `out_dtype` only f32, for
/// operands of 16 bits or 8.
llvm::LogicalResult verifyContraction(mlir::Operation *op,
                                      std::optional<mlir::Type> compute,
                                      std::optional<mlir::Type> outDtype);

/// A factor in the type of the gradient, which is wider if the sums were not
/// rounded.
mlir::Value likeGradient(mlir::ImplicitLocOpBuilder &b, mlir::Value factor,
                         mlir::Value gradient);
/// bf16 holds every 8-bit float.
mlir::Value toBF16(mlir::ImplicitLocOpBuilder &b, mlir::Value factor);

} // namespace mp

#endif // MP_DIALECT_CONTRACTIONRULES_H
