//===- Gemm.h - which kernel a matrix product gets on CUDA ------*- C++ -*-===//
//
// Shapes of products and ways to cut them up, as plain data with a text form:
// the table of ways, the choice without measurements, and the candidates that a
// tuner measures.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CUDA_CONTRACTION_GEMM_H
#define MP_CODEGEN_CUDA_CONTRACTION_GEMM_H

#include "codegen/cuda/Arch.h"
#include "program/Program.h"

namespace mp::cuda {

/// c[batch, m, n] = a[batch, m, k] b[batch, k, n], elements of one type.
struct GemmShape {
  ElementType type = ElementType::F32;
  bool tf32 = false;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool transposeA = false, transposeB = false; ///< a [.., k, m]; b [.., n, k]
  bool broadcastA = false, broadcastB = false; ///< one matrix for the batch

  /// "f16 nt 1x128x256x784": type ("tf32" where that is allowed), a and b (n
  /// plain, t transposed; capital: one matrix for the batch), batch x m x n x
  /// k.
  std::string str() const;
  /// Errors: another form; sizes below 1.
  static llvm::Expected<GemmShape> parse(llvm::StringRef text);
  bool operator==(const GemmShape &) const = default;
};

/// The same as mp::Path in kernels/gemm-math.cuh.
enum class GemmPath { Half, Wgmma, Tf32, Fma, Any };
/// Returns the path that a shape takes on every architecture.
GemmPath pathOf(const GemmShape &shape);
/// Returns the path's name in the kernels: "Half".
llvm::StringRef pathName(GemmPath path);

/// How a product is cut up; kernels/gemm.cuh says what each number means.
struct GemmConfig {
  int tileM = 64, tileN = 64, tileK = 32;
  int stages = 2, warpsM = 2, warpsN = 2;
  int resident = 1; ///< blocks that registers allow on a multiprocessor at once
  int splits = 1;
  bool wgmma = false; ///< by warpgroups, as sm_90 alone has them

  int threads() const { return warpsM * warpsN * 32; }
  /// "128x128x32 stages 4 warps 2x4 resident 1 splits 1", and " wgmma".
  std::string str() const;
  /// Errors: another form.
  static llvm::Expected<GemmConfig> parse(llvm::StringRef text);
  bool operator==(const GemmConfig &) const = default;
};

/// Returns the path that a shape takes when it is cut up so.
GemmPath pathOf(const GemmShape &shape, const GemmConfig &config);
/// Returns the shared memory of the ring of stages.
uint64_t ringBytes(const GemmShape &shape, const GemmConfig &config);
/// Returns the shared memory that a block needs: the ring of stages, behind it
/// the places of its rows if it has them (conv.cuh), or the staged sums.
uint64_t sharedBytes(const GemmShape &shape, const GemmConfig &config,
                     bool hasPlaces = false);

/// Returns why the kernels do not exist in this form; empty if they do.
std::string whyNot(const GemmShape &shape, const GemmConfig &config,
                   const Arch &arch);

/// Chooses the config for a shape by the committed table (GemmTable.inc) and a
/// model of the time that it takes. whyNot is empty for the choice.
GemmConfig chooseGemm(const GemmShape &shape, const Arch &arch);

/// Returns configs worth measuring, the chosen one first, at most `most`.
std::vector<GemmConfig> gemmCandidates(const GemmShape &shape, const Arch &arch,
                                       size_t most = 8);

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_CONTRACTION_GEMM_H
