//===- Emit.h - a kernel's launches on a target ---------------------------===//
#ifndef MP_CODEGEN_EMIT_H
#define MP_CODEGEN_EMIT_H

#include "program/Program.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace mp {

/// An argument of a launch: an operand or result of the kernel, or one of its
/// temporaries. Only here do results follow operands, so the planner simply
/// gives an in-place result its operand's place.
struct KernelArgument {
  enum class Kind { Operand, Result, Temporary };
  Kind kind = Kind::Operand;
  unsigned index = 0;
};

/// One launch; the target has the code of `symbol`. Fields as in mp::Launch.
struct KernelLaunch {
  std::string symbol;
  int64_t grid = 1, block = 1;
  uint64_t shared = 0;
  llvm::SmallVector<KernelArgument> arguments;
  uint64_t flops = 0;
  /// Whether it copies operands into temporaries that no other launch writes,
  /// so that a loop in which these operands stay the same needs it once.
  bool prepares = false;
};

/// A call of a library routine instead of generated code. Fields as in
/// mp::Call.
struct KernelCall {
  std::string routine;
  std::vector<std::pair<std::string, Call::Attribute>> attributes;
  int64_t grid = 1, block = 1;
  llvm::SmallVector<KernelArgument> arguments;
  uint64_t flops = 0;
  /// The routine that waits for the end of what the call starts; empty: it ends
  /// with the call.
  std::string wait = {};
  /// Symbols of kernels that the routine launches itself; attributes name them.
  llvm::SmallVector<std::string> kernels = {};
};

/// Launches run in order. `temporaries` are sizes in bytes; they live as long
/// as the kernel runs.
struct EmittedKernel {
  size_t body = 0; ///< the same number for kernels that are the same code
  llvm::SmallVector<uint64_t> temporaries;
  llvm::SmallVector<KernelLaunch> launches;
  std::optional<KernelCall> call; ///< and then no launch

  /// Returns the symbols of all code that it needs.
  llvm::SmallVector<llvm::StringRef> symbols() const {
    llvm::SmallVector<llvm::StringRef> all;
    for (const KernelLaunch &launch : launches)
      all.push_back(launch.symbol);
    if (call)
      all.append(call->kernels.begin(), call->kernels.end());
    return all;
  }
};

} // namespace mp

#endif // MP_CODEGEN_EMIT_H
