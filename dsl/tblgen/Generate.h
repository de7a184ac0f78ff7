//===- Generate.h - what the DSL's functions are made of --------*- C++ -*-===//
#ifndef MP_DSL_TBLGEN_GENERATE_H
#define MP_DSL_TBLGEN_GENERATE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Record.h"
#include <string>

namespace mp {

/// Writes the functions of all ops that a graph may hold: declarations with
/// their options and enumerations, or definitions.
bool generateOps(llvm::raw_ostream &os, const llvm::RecordKeeper &records,
                 bool definitions);
/// Writes the functions of optimizers and schedules.
bool generateRecipes(llvm::raw_ostream &os, const llvm::RecordKeeper &records,
                     bool definitions);

/// "cross_entropy": "crossEntropy"; a word that C++ keeps for itself gets
/// "logical" in front: "logicalAnd".
std::string functionName(llvm::StringRef mnemonic);
/// "cross_entropy": "CrossEntropy".
std::string typeName(llvm::StringRef mnemonic);
/// Writes text as a documentation comment.
void comment(llvm::raw_ostream &os, llvm::StringRef text,
             llvm::StringRef indent = "");

} // namespace mp

#endif // MP_DSL_TBLGEN_GENERATE_H
