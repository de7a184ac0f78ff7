//===- Target.h - the CPU that objects are made for -------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_TARGET_H
#define MP_CODEGEN_CPU_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
}

namespace mp::cpu {

/// A CPU as LLVM names it. The operating system is always the host's.
struct Target {
  std::string cpu;      ///< "znver4"
  std::string features; ///< comma-separated, "+avx2,-avx512f"

  /// Whether the CPU with its features has `feature` ("f16c").
  bool has(llvm::StringRef feature) const;
  /// Bytes of a vector register.
  int64_t vectorBytes() const {
    return has("avx512f") ? 64 : has("avx2") ? 32 : 16;
  }
  /// Returns the machine that this runs on.
  static Target host();
  /// Returns a CPU by name; an empty `cpu` is the host's. Fails if LLVM does
  /// not know the name, or the CPU cannot convert f16 (on x86: below
  /// x86-64-v3).
  static llvm::Expected<Target> get(llvm::StringRef cpu,
                                    llvm::StringRef features);
  /// Makes a new code generator: position-independent, no contraction. Threads
  /// cannot share it.
  std::unique_ptr<llvm::TargetMachine> createMachine() const;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_TARGET_H
