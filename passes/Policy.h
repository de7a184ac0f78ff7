//===- Policy.h - which ops an autocast runs low --------------------------===//
//
// A policy is data: lists of op names in some system's vocabulary, one JSON
// file in policies/, embedded by the build. Facts about ops stay with the ops.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_POLICY_H
#define MP_PASSES_POLICY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mp {

enum class Category {
  Allow,   ///< eligible operands in the low type
  Deny,    ///< eligible operands in f32
  Promote, ///< eligible operands in the widest of their types
  Banned,  ///< an error
  Native,  ///< as it comes; mixed operands promote, as tensors in PyTorch do
};

class Policy {
public:
  /// The embedded policy of that name. An unknown name is an error that lists
  /// them.
  static llvm::Expected<Policy> load(llvm::StringRef name);
  /// Names of the embedded policies.
  static std::vector<std::string> names();

  /// The system whose names the lists use.
  llvm::StringRef system() const { return vocabulary; }
  /// Moves ops to a category. `known` are names beyond the policy's own that an
  /// op of ours has; a name that neither knows is an error with the nearest
  /// ones.
  llvm::Error move(llvm::ArrayRef<std::string> ops, Category category,
                   llvm::ArrayRef<std::string> known);
  /// An op in no list is native.
  Category categoryOf(llvm::StringRef op) const;
  /// Whether the policy says anything about the op.
  bool lists(llvm::StringRef op) const;

private:
  std::string vocabulary;
  llvm::StringMap<Category> categories;
};

/// The entries of `names` nearest to `word` by edit distance, best first, at
/// most three.
std::vector<std::string> nearestNames(llvm::StringRef word,
                                      llvm::ArrayRef<std::string> names);

} // namespace mp

#endif // MP_PASSES_POLICY_H
