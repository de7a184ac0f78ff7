//===- registry-test.cpp - facts that hold for every op -------------------===//
//
// A registered op is tested without being named here. That each has a summary
// and an example that parses is checked with the docs:
// test/house/docs-generated.py.
//
//===----------------------------------------------------------------------===//
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Gradient.h"
#include "dialect/ops/Recompute.h"
#include "dialect/ops/Scan.h"
#include "dialect/ops/View.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace mp;

namespace {
class Registry : public testing::Test {
protected:
  Registry() { context.loadDialect<MpDialect>(); }

  template <typename Interface>
  auto *factsOf(mlir::RegisteredOperationName op) {
    return op.getInterface<Interface>();
  }
  std::vector<mlir::RegisteredOperationName> ops() {
    auto registered = context.getRegisteredOperationsByDialect("mp");
    return {registered.begin(), registered.end()};
  }

  mlir::MLIRContext context;
};

/// Returns a sample as a module: a function of its operands.
std::string moduleOf(const OpSample &sample) {
  std::string arguments, op = sample.op;
  for (auto [index, operand] : enumerate(sample.operands)) {
    arguments +=
        (index ? ", " : "") + formatv("%a{0}: {1}", index, operand.type).str();
    std::string from = "%" + std::to_string(index);
    for (size_t at; (at = op.find(from)) != std::string::npos;)
      op.replace(at, from.size(), "%a" + std::to_string(index));
  }
  std::string text =
      "func.func @sample(" + arguments + ") {\n  " + op + "\n  return\n}\n";
  for (size_t at; (at = text.find("F64")) != std::string::npos;)
    text.replace(at, 3, "f64");
  return text;
}
} // namespace

// "Not differentiable" is stated, never absent: only ops that compute nothing
// from tensors, and kernels, which come after differentiation, need no
// statement.
TEST_F(Registry, StatesGradients) {
  ASSERT_GE(ops().size(), 50u);
  for (mlir::RegisteredOperationName op : ops()) {
    auto *rule = factsOf<DifferentiableOpInterface>(op);
    if (!rule) {
      EXPECT_TRUE(op.hasTrait<mlir::OpTrait::ZeroOperands>() ||
                  op.hasTrait<mlir::OpTrait::ZeroResults>() ||
                  op.hasTrait<mlir::OpTrait::IsIsolatedFromAbove>())
          << op.getStringRef().str() << " states nothing about its gradient";
      continue;
    }
    bool has = !rule->sampleInputs().empty();
    bool hasNone =
        rule->stopsGradient() || !rule->whyNotDifferentiable().empty();
    EXPECT_NE(has, hasNone)
        << op.getStringRef().str()
        << " needs samples of its gradient, or a reason for none";
  }
}

// Samples are valid calls of their op.
TEST_F(Registry, SamplesParse) {
  for (mlir::RegisteredOperationName op : ops()) {
    auto *rule = factsOf<DifferentiableOpInterface>(op);
    if (!rule)
      continue;
    for (const OpSample &sample : rule->sampleInputs()) {
      std::string text = moduleOf(sample);
      auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
      ASSERT_TRUE(module) << text;
      int64_t calls = 0;
      module->walk(
          [&](mlir::Operation *inner) { calls += inner->getName() == op; });
      EXPECT_EQ(calls, 1) << text;
    }
  }
}

// An op computes elements, rows or a main loop: exactly one of the forms that
// targets know, unless it only moves or names values, or a pass expands it.
TEST_F(Registry, HasOneForm) {
  for (mlir::RegisteredOperationName op : ops()) {
    int forms = !!factsOf<ScalarOpInterface>(op) +
                !!factsOf<DecomposableOpInterface>(op) +
                !!factsOf<ReductionOpInterface>(op) +
                !!factsOf<AnchorOpInterface>(op);
    EXPECT_LE(forms, 1) << op.getStringRef().str();
    if (factsOf<DifferentiableOpInterface>(op) && !forms)
      EXPECT_TRUE(op.getStringRef() == ReshapeOp::getOperationName() ||
                  op.getStringRef() == TransposeOp::getOperationName() ||
                  op.getStringRef() == GradientOp::getOperationName() ||
                  op.getStringRef() == AutocastOp::getOperationName() ||
                  op.getStringRef() == ScanOp::getOperationName() ||
                  op.getStringRef() == PartOp::getOperationName() ||
                  op.getStringRef() == AssembleOp::getOperationName() ||
                  op.getStringRef() == RecomputeBarrierOp::getOperationName())
          << op.getStringRef().str() << " has no form that a target knows";
  }
}
