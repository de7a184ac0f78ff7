//===- registry-test.cpp - what holds of every op of the dialect ----------===//
//
// An op is tested by being registered, not by being remembered here.
//
//===----------------------------------------------------------------------===//
#include "dialect/Mp.h"
#include "passes/Policy.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mp;

namespace {
class Registry : public testing::Test {
protected:
  Registry() { context.loadDialect<MpDialect>(); }

  std::vector<mlir::RegisteredOperationName> ops() {
    return llvm::to_vector_of<mlir::RegisteredOperationName>(context.getRegisteredOperationsByDialect("mp"));
  }

  mlir::MLIRContext context;
};
} // namespace
