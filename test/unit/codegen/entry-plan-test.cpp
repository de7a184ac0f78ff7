//===- entry-plan-test.cpp - the stages of an anchor, and reads of steps --===//
//---===//
//
// A stage belongs to an anchor by its operands, not by its position; a plan
// whose steps read unwritten memory is refused; such reads are visible.
//
//===----------------------------------------------------------------------===//
#include "codegen/KernelModels.h"
#include "codegen/plan/EntryPlan.h"
#include "codegen/stages/Anchor.h"
#include "dialect/ops/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/cpu/Poison.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mp;

namespace {

/// A kernel of a product with stages: `body` has %p, the product, and %x and
/// %y of its type; `relu` and `add` stand for stages.
class EntryPlanTest : public ::testing::Test {
protected:
  EntryPlanTest() {
    DialectRegistry registry;
    registry.insert<MpDialect, func::FuncDialect, linalg::LinalgDialect,
                    arith::ArithDialect, tensor::TensorDialect>();
    registerKernelModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  static std::string stage(StringRef result, ArrayRef<StringRef> operands) {
    std::string ins, types, maps, arguments;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      ins += (i ? ", " : "") + operand.str();
      types += i ? ", tensor<8x8xf32>" : "tensor<8x8xf32>";
      maps += "#m, ";
      arguments += "%a" + std::to_string(i) + ": f32, ";
    }
    std::string body = operands.size() == 1
                           ? "%z = arith.constant 0.0 : f32\n"
                             "  %r = arith.maximumf %a0, %z : f32\n"
                           : "%r = arith.addf %a0, %a1 : f32\n";
    return result.str() + " = linalg.generic {indexing_maps = [" + maps +
           "#m], iterator_types = [\"parallel\", \"parallel\"]} ins(" + ins +
           " : " + types + ") outs(%e : tensor<8x8xf32>) {\n^bb0(" + arguments +
           "%o: f32):\n  " + body +
           "  linalg.yield %r : f32\n} -> tensor<8x8xf32>\n";
  }

  /// Parses a kernel with these stages and result.
  KernelOp kernel(const std::string &stages, StringRef result) {
    std::string text = R"(#m = affine_map<(i, j) -> (i, j)>
func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
%k = mp.kernel(%x = %a : tensor<8x8xf32>, %y = %b : tensor<8x8xf32>) -> tensor<8x8xf32> {
%e = tensor.empty() : tensor<8x8xf32>
%p = mp.linear %x, %y : tensor<8x8xf32>, tensor<8x8xf32>
)" + stages + "mp.yield " +
                       result.str() + R"( : tensor<8x8xf32>
}
return %k : tensor<8x8xf32>
})";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return *(*module->getOps<func::FuncOp>().begin())
                .getOps<KernelOp>()
                .begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(EntryPlanTest, StagesOfTheProductAreItsChain) {
  AnchorStages stages(
      anchorOf(kernel(stage("%q", {"%p"}) + stage("%r", {"%q"}), "%r")));
  EXPECT_EQ(stages.all.size(), 2u);
  EXPECT_EQ(stages.chain.size(), 2u);
}

TEST_F(EntryPlanTest, AStageThatReadsSomethingElseIsNot) {
  AnchorStages stages(
      anchorOf(kernel(stage("%q", {"%x"}) + stage("%r", {"%p", "%q"}), "%r")));
  EXPECT_EQ(stages.all.size(), 2u);
  EXPECT_TRUE(stages.chain.empty());
}

TEST_F(EntryPlanTest, AStageBesideDoesNotEndTheChain) {
  KernelOp op = kernel(stage("%q", {"%x"}) + stage("%s", {"%p"}) +
                           stage("%r", {"%s", "%q"}),
                       "%r");
  AnchorStages stages(anchorOf(op));
  ASSERT_EQ(stages.chain.size(), 1u);
  EXPECT_EQ(stages.chain.front(), stages.all[1]);
}

TEST_F(EntryPlanTest, AProductReadTwiceHasNoChain) {
  AnchorStages stages(
      anchorOf(kernel(stage("%q", {"%p"}) + stage("%r", {"%p", "%q"}), "%r")));
  EXPECT_TRUE(stages.chain.empty());
}

TEST_F(EntryPlanTest, AResultThatNoLaunchWritesIsRefused) {
  auto function = cast<func::FuncOp>(kernel("", "%p")->getParentOp());
  auto backend = llvm::cantFail(createBackend(CompileOptions(), context));
  std::string said;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { said = diagnostic.str(); });
  ProgramBuilder builder;
  EmittedKernel empty;
  auto codeOf = [&](func::FuncOp) { return ArrayRef(empty); };
  EXPECT_TRUE(failed(planEntry(function, codeOf, builder, *backend)));
  EXPECT_NE(said.find("nothing writes"), std::string::npos) << said;
}

TEST(Poison, BeginsWhereABufferDoes) {
  Entry entry;
  entry.steps.resize(3);
  entry.buffers = {{0, 64, 0, 1, {}, "a"}, {0, 64, 2, 2, {}, "b"}};
  setenv("MP_POISON", "1", 1);
  auto poisoned = buffersToPoison(entry);
  ASSERT_EQ(poisoned.size(), 3u);
  EXPECT_EQ(poisoned[0].front().summary, "a");
  EXPECT_TRUE(poisoned[1].empty());
  EXPECT_EQ(poisoned[2].front().summary, "b");
  setenv("MP_POISON", "0", 1);
  EXPECT_TRUE(buffersToPoison(entry).empty());
}

} // namespace
