//===- ops-test.cpp - the functions of ops, by the registry ---------------===//
#include "OpSamples.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"
#include "gtest/gtest.h"

namespace {

/// The ops with a gradient that a user writes, as their functions are called.
std::vector<std::string> expectedFunctions() {
  std::vector<std::string> names;
  for (const mp::DifferentiableOp &op : mp::differentiableOps()) {
    llvm::StringRef name = op.name;
    name.consume_front("mp.");
    if (!name.ends_with("_backward"))
      names.push_back(llvm::convertToCamelFromSnakeCase(name));
  }
  return names;
}

/// A function is left out if the generator does not know the type of one of its
/// attributes.
TEST(Ops, HaveAFunctionEach) {
  auto header = llvm::MemoryBuffer::getFile(MP_BINARY_DIR "/dsl/ops.h.inc");
  ASSERT_TRUE(bool(header));
  std::vector<std::string> names = expectedFunctions();
  EXPECT_GT(names.size(), 60u);
  for (const std::string &name : names)
    EXPECT_TRUE(
        llvm::Regex("^[A-Za-z:<>]+ " + name + "\\(", llvm::Regex::Newline)
            .match((*header)->getBuffer()))
        << name;
}

} // namespace
