//===- KernelStore.h - the CUDA sources of a compilation --------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_KERNELSTORE_H
#define MP_CODEGEN_CUDA_KERNELSTORE_H

#include "program/Program.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <mutex>

namespace mp::cuda {

/// A kernel as a function that any of several blocks may call, so that one
/// launch can do the work of several.
struct StagePart {
  struct Parameter {
    std::string type; ///< of an element
    int64_t count;    ///< elements
  };
  /// `inline void BODY_NAME(int block, [index count, ...] Global<T0> a0, ...)`,
  /// where block counts from 0.
  std::string function;
  /// The header that the function needs: "stages.cuh", or one that includes it.
  std::string header = "stages.cuh";
  /// The arguments between `block` and the parameters: sizes that are not part
  /// of the text, so that one text does for many.
  std::vector<int64_t> counts;
  std::vector<Parameter> parameters;
  int64_t grid = 1, block = 1;
  int64_t resident = 1; ///< blocks that registers allow on a multiprocessor
  uint64_t shared = 0;
};

/// A product as a part of a kernel that runs a whole loop (kernels/loop.cuh).
struct LoopProduct {
  /// `namespace BODY_NAME`, which has `keep(tile, kept, b)` and `multiply(tile,
  /// kept, shared, a, ...)`, whose last parameters are those of its epilogue.
  std::string text;
  /// a, b, and those of the epilogue.
  std::vector<StagePart::Parameter> parameters;
  /// Where each stands among the arguments of the launches of this product.
  std::vector<unsigned> arguments;
  /// The kernel of the launch before, whose work this does too; or empty.
  std::string first;
  int64_t tiles = 1;
  uint64_t weights = 0; ///< bytes of b in memory
  uint64_t kept = 0;    ///< bytes of it that a block keeps in shared memory
  uint64_t shared = 0;  ///< bytes beside them
};

/// Sources of kernels by symbol. Thread-safe.
class KernelStore {
public:
  /// The placeholder of a kernel's name in a source.
  static constexpr llvm::StringLiteral name = "KERNEL_NAME";
  /// Returns the text before the name of a kernel of so many threads. It says
  /// how many blocks registers must allow on a multiprocessor, even if that is
  /// one: by itself, the compiler spills registers for the sake of more.
  static std::string head(int64_t threads, int64_t resident = 1) {
    return "extern \"C\" __global__ void __launch_bounds__(" +
           std::to_string(threads) + ", " + std::to_string(resident) + ")";
  }
  /// The placeholder of the function's name in a part.
  static constexpr llvm::StringLiteral bodyName = "BODY_NAME";
  /// Returns the text of a part with this name in its place.
  static std::string named(llvm::StringRef part, llvm::StringRef name);

  /// Keeps a source in which the kernel is called `name`; equal sources are
  /// kept once. Returns the symbol, "k_" and a hash of the source.
  std::string add(llvm::StringRef source);
  /// Keeps a part, and the source of a kernel that is this part alone.
  std::string add(StagePart part);

  /// Keeps how a loop's kernel does the work of the launch of `symbol`.
  void add(llvm::StringRef symbol, LoopProduct product);

  /// The source of a symbol that `add` returned.
  llvm::StringRef source(llvm::StringRef symbol) const;
  /// The part that a symbol was made from, or null.
  const StagePart *part(llvm::StringRef symbol) const;
  /// The same of the last launch of a product that a loop's kernel may have, or
  /// null.
  const LoopProduct *loopProduct(llvm::StringRef symbol) const;
  /// Whether a launch of the symbol is used as it is, not as a part.
  bool isFinal(llvm::StringRef symbol) const;

private:
  mutable std::mutex mutex;
  llvm::StringMap<std::string> sources;
  llvm::StringMap<StagePart> parts;
  llvm::StringMap<LoopProduct> loopProducts;
  llvm::StringSet<> ofLoopProducts; ///< symbols of their launches
};

/// The headers that sources include.
std::vector<Header> kernelHeaders();

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_KERNELSTORE_H
