//===- MatmulCall.h - the attributes of a "*.matmul" call -----------------===//
#ifndef MP_RUNTIME_MATMULCALL_H
#define MP_RUNTIME_MATMULCALL_H

#include "program/Program.h"
#include "llvm/ADT/ArrayRef.h"

namespace mp {

/// The attributes that all libraries' matrix products share; see Call in
/// program/Program.h.
struct MatmulCall {
  int64_t m = 0, n = 0, k = 0;
  std::vector<int64_t> aStrides, bStrides;
  ElementType aType = ElementType::F32, cType = ElementType::F32;
  std::optional<ElementType> biasType;
  bool relu = false;

  /// The number of operands and results, without what a library adds.
  size_t arguments() const { return biasType ? 4 : 3; }
  /// "f32 128x784x512", for messages.
  std::string str() const;
};

/// Reads and checks the attributes; element types must be among `types`.
llvm::Expected<MatmulCall> readMatmul(const Call &call,
                                      llvm::ArrayRef<ElementType> types);

/// Fails unless the call has `expected` arguments.
llvm::Error checkArguments(const Call &call, size_t expected);

/// Reads a required attribute, of one of the types in Call::Attribute.
llvm::Error readAttribute(const Call &call, llvm::StringRef name,
                          int64_t &value);
llvm::Error readAttribute(const Call &call, llvm::StringRef name,
                          std::string &value);
llvm::Error readAttribute(const Call &call, llvm::StringRef name,
                          std::vector<int64_t> &value);

} // namespace mp

#endif // MP_RUNTIME_MATMULCALL_H
