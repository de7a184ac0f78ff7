//===- Layout.cpp - moves of elements as kernels --------------------------===//
//
// Layout ops on both targets: codegen/cpu/layout/Layout.h,
// codegen/cuda/layout/Layout.h. A move has no epilogue; the stages after it are
// a kernel of their own.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Layout.h"
#include "codegen/cpu/layout/Layout.h"
#include "codegen/cuda/layout/Layout.h"
#include "codegen/ops/LoopModels.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mp;

namespace {
/// The CPU's code for an op: a call of its emitter.
struct OnCpu {
  Operation *op;
  cpu::ObjectCompiler &compiler;
  EmittedKernel &kernel;

  static cpu::LayoutTensor in(Value operand) {
    return operandOf<cpu::LayoutTensor>(operand);
  }
  cpu::LayoutTensor out() const { return resultOf<cpu::LayoutTensor>(op); }

  LogicalResult emit(SliceOp slice) {
    return cpu::emitBox(boxOf(slice), in(slice.getInput()), out(), compiler,
                        kernel);
  }
  LogicalResult emit(ConcatOp concat) {
    for (auto [box, input] :
         llvm::zip_equal(boxesOf(concat), concat.getInputs()))
      if (failed(cpu::emitBox(box, in(input), out(), compiler, kernel)))
        return failure();
    return success();
  }
  LogicalResult emit(PadOp pad) {
    return cpu::emitPad(paddedBoxOf(pad), in(pad.getInput()), out(), compiler,
                        kernel);
  }
  LogicalResult emit(GatherOp gather) {
    return cpu::emitGather(rowsOf(gather), in(gather.getTable()),
                           in(gather.getIndices()), out(), compiler, kernel);
  }
  LogicalResult emit(ScatterAddOp scatter) {
    Value base = scatter.getBase();
    return cpu::emitScatterAdd(
        rowsOf(scatter), in(scatter.getUpdates()), in(scatter.getIndices()),
        base ? std::optional(in(base)) : std::nullopt, out(), compiler, kernel);
  }
  LogicalResult emit(ScatterRowsOp scatter) {
    return cpu::emitScatterRows(
        rowsOf(scatter), in(scatter.getRows()), in(scatter.getIndices()), out(),
        flagOf<cpu::LayoutTensor>(scatter), compiler, kernel);
  }
  LogicalResult emit(CumsumOp cumsum) {
    return cpu::emitRunningSum(sumOf(cumsum), in(cumsum.getInput()), out(),
                               compiler, kernel);
  }
};

struct OnCuda {
  Operation *op;
  cuda::KernelStore &store;
  EmittedKernel &kernel;

  static cuda::LayoutTensor in(Value operand) {
    return operandOf<cuda::LayoutTensor>(operand);
  }
  cuda::LayoutTensor out() const { return resultOf<cuda::LayoutTensor>(op); }

  void emit(SliceOp slice) {
    cuda::emitBoxes({boxOf(slice)}, {in(slice.getInput())}, out(), store,
                    kernel);
  }
  void emit(ConcatOp concat) {
    cuda::emitBoxes(boxesOf(concat),
                    llvm::map_to_vector(concat.getInputs(), in), out(), store,
                    kernel);
  }
  void emit(PadOp pad) {
    cuda::emitPad(paddedBoxOf(pad), in(pad.getInput()), out(), store, kernel);
  }
  void emit(GatherOp gather) {
    cuda::emitGather(rowsOf(gather), in(gather.getTable()),
                     in(gather.getIndices()), out(), store, kernel);
  }
  void emit(ScatterAddOp scatter) {
    Value base = scatter.getBase();
    cuda::emitScatterAdd(
        rowsOf(scatter), in(scatter.getUpdates()), in(scatter.getIndices()),
        base ? std::optional(in(base)) : std::nullopt, out(), store, kernel);
  }
  void emit(ScatterRowsOp scatter) {
    cuda::emitScatterRows(rowsOf(scatter), in(scatter.getRows()),
                          in(scatter.getIndices()), out(),
                          flagOf<cuda::LayoutTensor>(scatter), store, kernel);
  }
  void emit(CumsumOp cumsum) {
    cuda::emitRunningSum(sumOf(cumsum), in(cumsum.getInput()), out(), store,
                         kernel);
  }
};

struct Layout {
  template <typename Emitter> static auto emit(Operation *op, Emitter emitter) {
    using Result = decltype(emitter.emit(SliceOp()));
    return llvm::TypeSwitch<Operation *, Result>(op)
        .template Case<SliceOp, ConcatOp, PadOp, GatherOp, ScatterAddOp,
                       ScatterRowsOp, CumsumOp>(
            [&](auto op) { return emitter.emit(op); })
        .Default([](Operation *) -> Result {
          llvm_unreachable("no op of the family");
        });
  }
  static LogicalResult emitOnCpu(Operation *op, cpu::ObjectCompiler &compiler,
                                 EmittedKernel &kernel) {
    return emit(op, OnCpu{op, compiler, kernel});
  }
  static void emitOnCuda(Operation *op, cuda::KernelStore &store,
                         EmittedKernel &kernel) {
    emit(op, OnCuda{op, store, kernel});
  }
};
} // namespace

namespace mp {
void registerLayoutModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MpDialect *) {
    attachLoopModels<Layout, SliceOp, ConcatOp, PadOp, GatherOp, ScatterAddOp,
                     ScatterRowsOp, CumsumOp>(context);
  });
}
} // namespace mp
