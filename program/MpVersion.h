//===- MpVersion.h - the version of the mp dialect ------------------------===//
#ifndef MP_PROGRAM_MPVERSION_H
#define MP_PROGRAM_MPVERSION_H

#include "llvm/ADT/StringRef.h"
#include <compare>
#include <optional>
#include <string>

namespace mp {

/// On a module: the version of the dialect that it was written for, a string. A
/// module without it is taken to be of this version.
inline constexpr llvm::StringLiteral kVersionAttr = "mp.version";

/// The version of the dialect: the first two numbers of Mantissa's.
struct MpVersion {
  unsigned major = 0, minor = 0;

  static MpVersion ours();
  /// Parses "0.5"; further numbers, as in "0.5.1", do not count.
  static std::optional<MpVersion> parse(llvm::StringRef text);
  auto operator<=>(const MpVersion &) const = default;
  std::string str() const;
  /// "needs mp dialect 0.7, this is 0.5"
  std::string isNewer() const;
};

} // namespace mp

#endif // MP_PROGRAM_MPVERSION_H
