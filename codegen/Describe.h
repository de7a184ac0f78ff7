//===- Describe.h - variables, inputs and data of a module ----------------===//
#ifndef MP_CODEGEN_DESCRIBE_H
#define MP_CODEGEN_DESCRIBE_H

#include "codegen/Program.h"
#include "dialect/Mp.h"

namespace mp {

/// A module's variables, formulas of initialisers resolved to numbers.
std::vector<Variable> describeVariables(mlir::ModuleOp module);

/// A module's data sources.
std::vector<DataSource> describeData(mlir::ModuleOp module);

/// A function's arguments by name, with the ranges that ops on them ask for. Do
/// it on the function as written: kernels no longer say what an operand indexes
/// into.
std::vector<Input> describeInputs(mlir::func::FuncOp function);

} // namespace mp

#endif // MP_CODEGEN_DESCRIBE_H
