//===- TunePlan.h - kernels chosen by measurement ---------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_TUNEPLAN_H
#define MP_CODEGEN_CUDA_CONTRACTION_TUNEPLAN_H

#include "codegen/cuda/contraction/Gemm.h"
#include "codegen/cuda/convolution/ConvolutionSizes.h"
#include <map>
#include <variant>

namespace mp::cuda {

/// What a plan chooses a kernel for.
using TunedShape = std::variant<GemmShape, ConvolutionSizes>;
/// Returns what names it in a plan: "gemm f16 nt 1x128x256x784".
std::string lineOf(const TunedShape &shape);
/// Returns what names the library that has such kernels, in a plan: "cublaslt"
/// or "cudnn".
llvm::StringRef libraryOf(const TunedShape &shape);
/// Returns the product that its kernels compute.
GemmShape productOf(const TunedShape &shape);

/// The kernel of each measured product and convolution, as `mp-run tune` writes
/// it. In the text form `#` begins a comment:
///
///   mp.plan 1 sm_90
///   conv f16 forward 8x56x56x64 64x3x3 groups 1 strides 1x1 low 1x1 high 1x1
///   dilations 1x1 = cudnn
///   gemm f16 nt 1x128x256x784 = 64x64x64 stages 4 warps 2x2 resident 2 splits
///   2
///   gemm f16 nn 1x4096x4096x4096 = cublaslt
///
/// each choice in a line of its own.
struct TunePlan {
  /// A generated kernel, or that of the library.
  struct Choice {
    std::optional<GemmConfig> config;
    bool operator==(const Choice &) const = default;
  };

  Arch arch;
  std::map<std::string, Choice> choices; ///< by lineOf

  /// Reads the text form of a file `name`. Errors name the file and the line:
  /// another form, a shape twice, a kernel that the architecture cannot run.
  static llvm::Expected<TunePlan> parse(llvm::StringRef text,
                                        llvm::StringRef name = "tuning plan");
  std::string str() const;
  /// Returns the hash of `str` in 16 hexadecimal digits: two plans of one hash
  /// choose the same kernels.
  std::string hash() const;

  const Choice *find(const TunedShape &shape) const {
    auto found = choices.find(lineOf(shape));
    return found == choices.end() ? nullptr : &found->second;
  }
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONTRACTION_TUNEPLAN_H
