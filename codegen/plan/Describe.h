//===- Describe.h - variables, inputs and data of a module ----------------===//
#ifndef MP_CODEGEN_PLAN_DESCRIBE_H
#define MP_CODEGEN_PLAN_DESCRIBE_H

#include "dialect/Mp.h"
#include "program/Program.h"

namespace mp {

/// Describes a module's variables; formulas of initialisers become numbers.
std::vector<Variable> describeVariables(mlir::ModuleOp module);

/// A module's data sources.
std::vector<DataSource> describeData(mlir::ModuleOp module);

/// Describes a function's arguments by name, with the ranges that ops on them
/// ask for. Call it on the function as written: kernels no longer tell the
/// table that an operand indexes.
std::vector<Input> describeInputs(mlir::func::FuncOp function);

/// Describes the input that mp-decode adds to a function of `tokens` tokens:
/// where in its context a call begins.
Input describePosition(mlir::func::FuncOp function, int64_t tokens);

/// Returns the source location of an op; of a fused location the first place.
Location locate(mlir::Location location);
/// Returns the element type and shape as Program has them.
TensorType describeType(mlir::RankedTensorType type);

/// Returns the names of the ops that an op stands for, in order: "mp.linear
/// mp.relu" for a kernel, its own name for any other.
std::string summaryOf(mlir::Operation *op);

/// Returns the elements of a constant, row by row.
std::string describeElements(mlir::DenseElementsAttr elements,
                             const TensorType &type);

/// Fills in what mp-instrument has recorded: the results of an entry point
/// under names of mp.record.
void describeRecords(Entry &entry, mlir::func::FuncOp function);

/// Fills in the source locations of a kernel, which all targets share.
void describeSources(Kernel &kernel, mlir::Operation *op);

} // namespace mp

#endif // MP_CODEGEN_PLAN_DESCRIBE_H
