//===- Describe.h - variables, inputs and data of a module ----------------===//
#ifndef MP_CODEGEN_PLAN_DESCRIBE_H
#define MP_CODEGEN_PLAN_DESCRIBE_H

#include "dialect/Mp.h"
#include "program/Program.h"

namespace mp {

/// A module's variables, formulas of initialisers resolved to numbers.
std::vector<Variable> describeVariables(mlir::ModuleOp module);

/// A module's data sources.
std::vector<DataSource> describeData(mlir::ModuleOp module);

/// A function's arguments by name, with the ranges that ops on them ask for. Do
/// it on the function as written: kernels no longer say what an operand indexes
/// into.
std::vector<Input> describeInputs(mlir::func::FuncOp function);

/// Where something was written; a fused location's first place.
Location locate(mlir::Location location);
/// The element type and shape as Program has them.
TensorType describeType(mlir::RankedTensorType type);

/// The names of the ops that an op stands for, in order: "mp.linear mp.relu" of
/// a kernel, its own of any other.
std::string summaryOf(mlir::Operation *op);

/// What all kernels have in common, whatever the target: where they come from.
void describeSources(Kernel &kernel, mlir::Operation *op);

} // namespace mp

#endif // MP_CODEGEN_PLAN_DESCRIBE_H
