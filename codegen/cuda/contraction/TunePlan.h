//===- TunePlan.h - kernels chosen by measurement ---------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_TUNEPLAN_H
#define MP_CODEGEN_CUDA_CONTRACTION_TUNEPLAN_H

#include "codegen/cuda/contraction/Gemm.h"
#include <map>

namespace mp::cuda {

/// The kernel of each measured product, as `mp-run tune` writes it. In the text
/// form `#` begins a comment:
///
///   mp.plan 1 sm_90
///   gemm f16 nt 1x128x256x784 = 64x64x64 stages 4 warps 2x2 resident 2 splits
///   2 gemm f16 nn 1x4096x4096x4096 = cublaslt
struct TunePlan {
  /// A generated kernel, or cuBLASLt's.
  struct Choice {
    std::optional<GemmConfig> config;
    bool operator==(const Choice &) const = default;
  };

  Arch arch;
  std::map<std::string, Choice> gemms; ///< by GemmShape::str

  /// Reads the text form of a file `name`. Errors name the file and the line:
  /// another form, a shape twice, a kernel that the architecture cannot run.
  static llvm::Expected<TunePlan> parse(llvm::StringRef text,
                                        llvm::StringRef name = "tuning plan");
  std::string str() const;
  /// Returns the hash of `str` in 16 hexadecimal digits: two plans of one hash
  /// choose the same kernels.
  std::string hash() const;

  const Choice *find(const GemmShape &shape) const {
    auto found = gemms.find(shape.str());
    return found == gemms.end() ? nullptr : &found->second;
  }
};

/// Returns the generated products that a Program has, in order and without
/// repeats: each such kernel begins with its line of a plan, as a comment.
std::vector<GemmShape> productsOf(const Program &program);

/// Returns a module whose one function computes only a product, of its
/// arguments.
std::string moduleOf(const GemmShape &shape);

/// Returns a module whose one function, `function`, computes a product `copies`
/// times, from variables into variables. A tuner compiles it under a plan for
/// that shape, and measures it. Copy i is @c<i> = @a<i> @b.
std::string benchmarkOf(const GemmShape &shape, llvm::StringRef function,
                        unsigned copies);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONTRACTION_TUNEPLAN_H
