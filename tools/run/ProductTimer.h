//===- ProductTimer.h - how long a product takes on a device --------------===//
#ifndef MP_TOOLS_RUN_PRODUCTTIMER_H
#define MP_TOOLS_RUN_PRODUCTTIMER_H

#include "codegen/cuda/contraction/TunePlan.h"
#include "runtime/Device.h"
#include "runtime/Session.h"

namespace mp::tool {

/// One matrix product's or convolution's operands on a device, on which several
/// kernels are measured.
class ProductTimer {
public:
  /// Errors: the device cannot be used, or is not a CUDA device.
  static llvm::Expected<ProductTimer> create(const cuda::TunedShape &shape,
                                             Device device);

  /// Begins to compile the kernels of a choice, beside those added before, and
  /// returns its number. Errors: the product cannot be computed so.
  llvm::Expected<unsigned> add(const cuda::TunePlan::Choice &choice);
  /// Returns the microseconds of one product: the median of some rounds of runs
  /// that follow one another without a wait, each of several products with
  /// operands of their own. Errors: the kernel or the library's routine is
  /// not available, or the device failed.
  llvm::Expected<double> measure(unsigned choice);
  /// Returns the error of the last measured result: ||c - reference|| /
  /// ||reference|| over some elements, with sums in double.
  llvm::Expected<double> error();
  /// Returns the largest `error` to expect for sums in f32 of rounded operands.
  double tolerance() const;
  cuda::Arch arch() const { return architecture; }

private:
  ProductTimer() = default;
  /// Returns the bytes of a variable.
  llvm::Expected<std::vector<char>> read(llvm::StringRef variable);
  llvm::Error readOperands();

  cuda::TunedShape shape;
  cuda::Arch architecture;
  std::unique_ptr<Session> session;
  std::vector<Program> programs; ///< of the choices, until they are loaded
  std::vector<char> a, b;        ///< the first copy's operands
  unsigned copies = 1;
};

} // namespace mp::tool

#endif // MP_TOOLS_RUN_PRODUCTTIMER_H
