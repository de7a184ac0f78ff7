//===- Sort.cpp - sorted rows as kernels ----------------------------------===//
//
// On both targets: codegen/cpu/sort/Sort.h, codegen/cuda/sort/Sort.h. Elements
// are compared by keys, which are integers without a sign in the same order,
// and then by their index, so that there is one result whatever the algorithm.
//
//===----------------------------------------------------------------------===//
#include "codegen/cpu/sort/Sort.h"
#include "codegen/cuda/sort/Sort.h"
#include "codegen/ops/LoopModels.h"

using namespace mlir;
using namespace mp;

namespace {
struct Sorting {
  static LogicalResult emitOnCpu(Operation *op, cpu::ObjectCompiler &compiler,
                                 EmittedKernel &kernel) {
    using Tensor = cpu::LayoutTensor;
    return cpu::emitArgsort(sortedRowsOf(cast<ArgsortOp>(op)),
                            operandOf<Tensor>(op, 0), resultOf<Tensor>(op),
                            compiler, kernel);
  }
  static void emitOnCuda(Operation *op, cuda::KernelStore &store,
                         EmittedKernel &kernel) {
    using Tensor = cuda::LayoutTensor;
    cuda::emitArgsort(sortedRowsOf(cast<ArgsortOp>(op)),
                      operandOf<Tensor>(op, 0), resultOf<Tensor>(op), store,
                      kernel);
  }
};
} // namespace

namespace mp {
void registerSortModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attachLoopModels<Sorting, ArgsortOp>(context);
  });
}
} // namespace mp
