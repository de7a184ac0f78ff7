//===- tune-plan-test.cpp - tuning plans as text --------------------------===//
//
// Shapes, configs and plans as text, and the choice without a plan.
//
//===----------------------------------------------------------------------===//
#include "codegen/Compile.h"
#include "codegen/cuda/contraction/TunePlan.h"
#include "gtest/gtest.h"

using namespace mp;
using namespace mp::cuda;

namespace {

std::string errorOf(llvm::StringRef plan) {
  auto parsed = TunePlan::parse(plan);
  return parsed ? "" : toString(parsed.takeError());
}

constexpr const char *config =
    "64x64x64 stages 4 warps 2x2 resident 2 splits 2";

TEST(TunePlan, readsBackWhatItWrites) {
  std::string text = "mp.plan 1 sm_90\n"
                     "gemm f16 nt 1x128x256x784 = " +
                     std::string(config) +
                     "\ngemm tf32 Tn 4x8x16x32 = cublaslt\n";
  auto plan = TunePlan::parse("# measured\n\n" + text + "  # end\n");
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  EXPECT_EQ(plan->str(), text);
  EXPECT_EQ(plan->hash().size(), 16u);
  EXPECT_EQ(plan->hash(), llvm::cantFail(TunePlan::parse(text)).hash());

  GemmShape shape;
  shape.type = ElementType::F16;
  shape.transposeB = true;
  shape.m = 128, shape.n = 256, shape.k = 784;
  const TunePlan::Choice *choice = plan->find(shape);
  ASSERT_TRUE(choice && choice->config);
  EXPECT_EQ(choice->config->splits, 2);
  shape.k = 785;
  EXPECT_EQ(plan->find(shape), nullptr);
}

TEST(TunePlan, anotherChoiceHasAnotherHash) {
  std::string shape = "mp.plan 1 sm_90\ngemm f16 nt 1x128x256x784 = ";
  EXPECT_NE(llvm::cantFail(TunePlan::parse(shape + "cublaslt")).hash(),
            llvm::cantFail(TunePlan::parse(shape + config)).hash());
}

TEST(TunePlan, saysWhatIsWrongAndWhere) {
  EXPECT_EQ(errorOf(""),
            "tuning plan: expected 'mp.plan 1 sm_..', got nothing");
  EXPECT_EQ(errorOf("plan"), "tuning plan, line 1: expected 'mp.plan 1 sm_..'");
  EXPECT_EQ(errorOf("mp.plan 1 sm_75"),
            "tuning plan, line 1: sm_75 is too old: kernels need sm_80 "
            "(Ampere) or later");
  EXPECT_EQ(errorOf("mp.plan 1 sm_80\nconv"),
            "tuning plan, line 2: expected 'gemm SHAPE = CONFIG'");
  EXPECT_EQ(
      errorOf("mp.plan 1 sm_80\ngemm f16 nt 1x0x1x1 = cublaslt"),
      "tuning plan, line 2: 'f16 nt 1x0x1x1' is not a shape of a product, "
      "as 'f16 nt 1x128x256x784' is");
  EXPECT_EQ(errorOf("mp.plan 1 sm_80\ngemm f16 nt 1x1x1x1 = fast"),
            "tuning plan, line 2: 'fast' is not a config of a product, as "
            "'128x128x32 stages 4 warps 2x4 resident 1 splits 1' is");
  EXPECT_EQ(errorOf("mp.plan 1 sm_80\ngemm f16 nt 1x1x1x1 = cublaslt\n"
                    "gemm f16 nt 1x1x1x1 = cublaslt"),
            "tuning plan, line 3: 'f16 nt 1x1x1x1' stands here twice");
}

TEST(TunePlan, refusesWhatCannotRun) {
  auto why = [](const std::string &shape, const std::string &config) {
    return errorOf("mp.plan 1 sm_86\ngemm " + shape + " = " + config);
  };
  EXPECT_EQ(why("f16 nt 1x64x64x128", config), ""); // two tiles of k
  EXPECT_NE(why("f16 nt 1x64x64x64",
                "64x64x64 stages 4 warps 2x2 resident 2 splits 2")
                .find("k is not so long"),
            std::string::npos);
  EXPECT_NE(why("f32 nt 1x64x64x64", config).find("no kernel of path Fma"),
            std::string::npos);
}

TEST(TunePlan, ofAnotherArchitectureIsAnError) {
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = "cuda";
  options.arch = "sm_80";
  options.plan = "mp.plan 1 sm_90\n";
  auto program = compile(moduleOf(GemmShape()), options);
  ASSERT_FALSE(bool(program));
  EXPECT_EQ(toString(program.takeError()),
            "tuning plan: made for sm_90, not for sm_80");
}

TEST(TunePlan, leavesItsHashInTheProgram) {
  GemmShape shape;
  shape.m = 4, shape.n = 8, shape.k = 16;
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = "cuda";
  options.cublaslt = true;
  auto ours = llvm::cantFail(compile(moduleOf(shape), options));
  EXPECT_EQ(ours.plan, "");
  ASSERT_EQ(productsOf(ours).size(), 1u);
  EXPECT_EQ(productsOf(ours)[0], shape);

  options.plan = "mp.plan 1 sm_80\ngemm " + shape.str() + " = cublaslt\n";
  auto theirs = llvm::cantFail(compile(moduleOf(shape), options));
  EXPECT_EQ(theirs.plan, llvm::cantFail(TunePlan::parse(options.plan)).hash());
  const auto *call = std::get_if<Call>(&theirs.entries.front().steps.front());
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->routine, "cublaslt.matmul");
  EXPECT_EQ(call->args.size(), 4u); // a, b, c, workspace

  std::string text;
  llvm::raw_string_ostream os(text);
  print(theirs, os);
  EXPECT_EQ(llvm::cantFail(parseProgram(text)).plan, theirs.plan);
}

TEST(GemmChoice, alwaysFitsTheDevice) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"})
    for (const char *text : {"f16 nt 1x1x1x1", "f16 nn 1x65536x3072x768",
                             "bf16 tn 1x768x3072x65536", "f32 nt 1x128x10x128",
                             "tf32 tt 8x4096x4096x4096", "f64 nn 3x33x7x1000",
                             "i8 nn 1x64x64x64"}) {
      Arch arch = llvm::cantFail(Arch::get(name));
      GemmShape shape = llvm::cantFail(GemmShape::parse(text));
      EXPECT_EQ(shape.str(), text);
      auto candidates = gemmCandidates(shape, arch);
      ASSERT_FALSE(candidates.empty()) << text;
      EXPECT_LE(candidates.size(), 8u);
      EXPECT_EQ(candidates.front(), chooseGemm(shape, arch));
      for (const GemmConfig &config : candidates) {
        EXPECT_EQ(whyNot(shape, config, arch), "") << text << config.str();
        EXPECT_LE(sharedBytes(shape, config), arch.sharedBytes());
        EXPECT_EQ(llvm::cantFail(GemmConfig::parse(config.str())), config);
      }
    }
}

TEST(GemmChoice, fillsTheDevice) {
  Arch hopper = llvm::cantFail(Arch::get("sm_90"));
  auto choose = [&](const char *text) {
    return chooseGemm(llvm::cantFail(GemmShape::parse(text)), hopper);
  };
  GemmConfig large = choose("f16 nt 1x8192x8192x8192");
  EXPECT_GE(large.tileM * large.tileN, 128 * 128);
  EXPECT_EQ(large.splits, 1);
  // Few tiles and a long k are a weight's gradient.
  EXPECT_GT(choose("f16 tn 1x256x256x65536").splits, 1);
  GemmConfig small = choose("f16 nt 1x128x256x784");
  EXPECT_LE(small.tileM * small.tileN, 64 * 128);
}

} // namespace
