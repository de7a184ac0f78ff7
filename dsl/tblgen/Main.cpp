//===- Main.cpp - makes the DSL's functions of the dialect's records ------===//
//
// mp-dsl-tblgen --gen=ops|recipes [--definitions] -I INCLUDE... MpOps.td
//
//===----------------------------------------------------------------------===//
#include "llvm/TableGen/Main.h"
#include "Generate.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

static cl::opt<std::string> generator("gen", cl::desc("ops or recipes"),
                                      cl::Required);
static cl::opt<bool> definitions("definitions", cl::desc("write definitions"));

static bool generate(raw_ostream &os, const RecordKeeper &records) {
  return generator == "recipes" ? mp::generateRecipes(os, records, definitions)
                                : mp::generateOps(os, records, definitions);
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  return TableGenMain(argv[0], &generate);
}
