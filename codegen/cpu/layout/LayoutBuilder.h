//===- LayoutBuilder.h - loops over tiles of rows ---------------*- C++ -*-===//
#ifndef MP_CODEGEN_CPU_LAYOUT_LAYOUTBUILDER_H
#define MP_CODEGEN_CPU_LAYOUT_LAYOUTBUILDER_H

#include "codegen/cpu/Emit.h"
#include "codegen/cpu/LoopBuilder.h"
#include "codegen/cpu/layout/Layout.h"

namespace mp::cpu {

/// How [outer, lines, run] is shared out: a work item has some lines, and some
/// neighbouring elements of these.
struct LineTiles {
  int64_t outer, lines, run;
  int64_t lineBlock, runBlock;

  /// Returns tiles of about `elements`, of whole vectors of `lanes`.
  static LineTiles of(int64_t outer, int64_t lines, int64_t run,
                      int64_t elements, int64_t lanes);
  int64_t lineBlocks() const { return llvm::divideCeil(lines, lineBlock); }
  int64_t runBlocks() const { return llvm::divideCeil(run, runBlock); }
  int64_t items() const { return outer * lineBlocks() * runBlocks(); }
};

/// Returns the elements in a vector for runs of this length: a power of two of
/// them, with at most `bytes`.
int64_t lanesFor(int64_t run, int64_t elementBytes, int64_t bytes = 64);
/// Elements of this size in a task.
inline int64_t elementsInTask(int64_t elementBytes) {
  return (int64_t(1) << 16) / elementBytes;
}
/// Bytes of an element in memory.
inline int64_t bytesOf(mlir::Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}
/// An integer of the width that an element has in memory.
mlir::Type wordOf(mlir::Type element);

class LayoutBuilder : public LoopBuilder {
public:
  using LoopBuilder::LoopBuilder;

  /// Calls body(outer, line, first of the run, number of its elements) for all
  /// tiles of the work items.
  void forTiles(const LineTiles &tiles,
                llvm::function_ref<void(mlir::Value outer, mlir::Value line,
                                        mlir::Value run, mlir::Value count)>
                    body);
  /// if (flag) then() else otherwise(), the latter if given.
  void choose(mlir::Value flag, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);

  mlir::Value select(mlir::Value flag, mlir::Value x, mlir::Value y);
  mlir::Value times(mlir::Value x, mlir::Value y);
  /// One element.
  mlir::Value loadScalar(const FlatMemory &buffer, mlir::Value at);
  void storeScalar(mlir::Value value, const FlatMemory &buffer, mlir::Value at);
  /// Loads an element that is an index: one below zero becomes a very large
  /// one.
  mlir::Value loadIndex(const FlatMemory &indices, mlir::Value at);
  /// Copies `count` elements of contiguous memory.
  void copy(const FlatMemory &source, mlir::Value from,
            const FlatMemory &result, mlir::Value to, mlir::Value count,
            int64_t lanes);
  /// x + y of vectors, floats or integers.
  mlir::Value sum(mlir::Value x, mlir::Value y);

  /// Compiles the function and adds its launch.
  mlir::LogicalResult launch(ObjectCompiler &compiler, EmittedKernel &kernel,
                             llvm::ArrayRef<KernelArgument> arguments,
                             int64_t items, int64_t itemsInTask = 1);
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_LAYOUT_LAYOUTBUILDER_H
