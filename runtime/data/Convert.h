//===- Convert.h - elements from one type to another ----------------------===//
#ifndef MP_RUNTIME_DATA_CONVERT_H
#define MP_RUNTIME_DATA_CONVERT_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"

namespace mp {

/// Returns the element at `bytes` as a double, which is exact for all types but
/// large i64.
double loadElement(ElementType type, const char *bytes);
/// The integer at `bytes`, exact. Only for types of isInteger.
int64_t loadInteger(ElementType type, const char *bytes);
bool isInteger(ElementType type);

/// Converts element by element between floating-point types, rounding to
/// nearest, ties to even. `to` holds as many elements as `from`.
void convertElements(ElementType fromType, llvm::ArrayRef<char> from,
                     ElementType toType, llvm::MutableArrayRef<char> to);

/// Stores the low bits of an integer. For I1, stores whether it is not zero.
void storeInteger(ElementType type, int64_t value, char *bytes);

/// Rounds a double once to the type and stores it; integers truncate to zero.
void storeElement(ElementType type, double value, char *bytes);

} // namespace mp

#endif // MP_RUNTIME_DATA_CONVERT_H
