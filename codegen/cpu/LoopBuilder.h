//===- LoopBuilder.h - loops over memory, written by hand -------*- C++ -*-===//
//
// Building blocks of the code generators that write their loops themselves: one
// function with arguments in flat memory, index arithmetic, and sweeps in
// vectors.
//
//===----------------------------------------------------------------------===//
#ifndef MP_CODEGEN_CPU_LOOPBUILDER_H
#define MP_CODEGEN_CPU_LOOPBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mp::cpu {

/// A flat buffer of the function that is being built.
struct FlatMemory {
  mlir::Value memref;
  mlir::Type element;      ///< as stored; integers are signless
  bool isUnsigned = false; ///< extended with zeros
};

class LoopBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Body = llvm::function_ref<void(mlir::Value)>;

  /// An argument: `count` elements of `element`, which may be unsigned.
  struct Argument {
    mlir::Type element;
    int64_t count;
  };

  /// Starts a module with one function over `arguments`, a range of work items
  /// and `sharedBytes` of scratch; code goes to its end.
  LoopBuilder(mlir::MLIRContext *context, llvm::ArrayRef<Argument> arguments,
              int64_t sharedBytes);
  /// Ends the function and returns the module.
  mlir::OwningOpRef<mlir::ModuleOp> take();

  const FlatMemory &argument(unsigned index) const { return arguments[index]; }
  mlir::Value begin() { return function.getArgument(arguments.size()); }
  mlir::Value end() { return function.getArgument(arguments.size() + 1); }
  /// `count` elements of the scratch from `byteOffset` on.
  FlatMemory scratch(mlir::Type element, int64_t byteOffset, int64_t count);

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y) { return add(x, index(y)); }
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y);
  mlir::Value min(mlir::Value x, int64_t y);
  mlir::Value div(mlir::Value x, int64_t y);
  mlir::Value rem(mlir::Value x, int64_t y);

  /// for (i = from; i < to; i += step).
  void forEach(mlir::Value from, mlir::Value to, int64_t step, Body body);
  void forEach(int64_t count, Body body) {
    forEach(index(0), index(count), 1, body);
  }
  /// Covers [0, count) with vectors of `lanes`: body(start, mask), where only
  /// the rest has a mask that is not null.
  void forVectors(
      mlir::Value count, int64_t lanes,
      llvm::function_ref<void(mlir::Value start, mlir::Value mask)> body);

  /// A loop over [from, to) that passes values on: body(index, values).
  llvm::SmallVector<mlir::Value>
  fold(mlir::Value from, mlir::Value to, mlir::ValueRange start,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);

  mlir::Value isBelow(mlir::Value x, mlir::Value y); ///< without sign
  /// A mask of the first `count` lanes.
  mlir::Value firstLanes(mlir::Value count, int64_t lanes);
  mlir::Value firstLanes(int64_t count, int64_t lanes) {
    return firstLanes(index(count), lanes);
  }
  /// The lanes of a vector at `at` that are below `count`; null for all, if
  /// `count` is a multiple of `multiple`, as `at` plus the lanes is.
  mlir::Value maskFor(mlir::Value at, int64_t count, int64_t multiple,
                      int64_t lanes);

  void ifElse(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);

  /// Prefetches the cache line of an element into the second-level cache.
  void prefetch(const FlatMemory &buffer, mlir::Value at);
  /// Loads `lanes` elements from `at` on; those masked off are 0.
  mlir::Value load(const FlatMemory &buffer, mlir::Value at, int64_t lanes,
                   mlir::Value mask = {});
  void store(mlir::Value vector, const FlatMemory &buffer, mlir::Value at,
             mlir::Value mask = {});
  /// The same with a conversion: rounds once, to nearest even; integers are
  /// extended by `buffer`'s sign or cut.
  mlir::Value loadAs(mlir::Type element, const FlatMemory &buffer,
                     mlir::Value at, int64_t lanes, mlir::Value mask = {});
  void storeAs(mlir::Value vector, const FlatMemory &buffer, mlir::Value at,
               mlir::Value mask = {});
  /// One element in every lane.
  mlir::Value loadSplat(const FlatMemory &buffer, mlir::Value at,
                        int64_t lanes);
  /// `lanes` zeros.
  mlir::Value zero(mlir::Type element, int64_t lanes);

  /// Transposes a square of as many rows as each has lanes: in round s, rows i
  /// and i + s exchange the blocks of s lanes off the diagonal.
  void transposeSquare(llvm::MutableArrayRef<mlir::Value> rows);

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  llvm::SmallVector<FlatMemory> arguments;
};

} // namespace mp::cpu

#endif // MP_CODEGEN_CPU_LOOPBUILDER_H
