//===- tune-plan-test.cpp - tuning plans as text --------------------------===//
//
// Shapes, configs and plans as text, and the choice without a plan.
//
//===----------------------------------------------------------------------===//
#include "codegen/Compile.h"
#include "codegen/cuda/contraction/TuneModules.h"
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

constexpr const char *convolution =
    "f16 forward 8x56x56x64 96x3x3 groups 2 strides 2x1 low 1x0 high 0x1 "
    "dilations 1x2";

TEST(TunePlan, hasConvolutionsToo) {
  std::string text = "mp.plan 1 sm_90\nconv " + std::string(convolution) +
                     " = cudnn\n"
                     "conv tf32 backward_weight 1x5x5x3 4x3x3 groups 1 strides "
                     "1x1 low 1x1 high 1x1 dilations 1x1 = "
                     "64x64x32 stages 3 warps 2x2 resident 2 splits 1\n"
                     "gemm f16 nt 1x128x256x784 = cublaslt\n";
  auto plan = TunePlan::parse(text);
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  EXPECT_EQ(plan->str(), text);
  auto sizes = llvm::cantFail(ConvolutionSizes::parse(convolution));
  EXPECT_EQ(sizes.str(), convolution);
  EXPECT_EQ(sizes.groups, 2);
  EXPECT_EQ(sizes.inputs, 32);
  EXPECT_EQ(sizes.outputs, 48);
  EXPECT_EQ(sizes.outputSizes(), (std::vector<int64_t>{8, 28, 53, 96}));
  EXPECT_EQ(sizes.product().str(), "f16 nt 2x11872x48x288");
  const TunePlan::Choice *choice = plan->find(sizes);
  ASSERT_TRUE(choice);
  EXPECT_FALSE(choice->config);
  sizes.dilations[0] = 2;
  EXPECT_EQ(plan->find(sizes), nullptr);
}

TEST(TunePlan, saysWhatIsWrongWithAConvolution) {
  auto why = [](std::string shape, const std::string &choice) {
    return errorOf("mp.plan 1 sm_80\nconv " + shape + " = " + choice);
  };
  auto isNoShape = [&](llvm::StringRef from, llvm::StringRef to) {
    std::string shape = convolution;
    size_t at = shape.find(from);
    shape.replace(at, from.size(), to);
    EXPECT_NE(why(shape, "cudnn").find("is not a convolution, as 'f16 forward"),
              std::string::npos)
        << shape;
  };
  EXPECT_EQ(why(convolution, "cudnn"), "");
  isNoShape("f16", "f17");
  isNoShape("forward", "backward");
  isNoShape("8x56x56x64", "8x56x64");
  isNoShape("groups 2", "groups 5");
  isNoShape("strides 2x1", "strides 0x1");
  isNoShape("96x3x3", "96x59x3"); // larger than the padded input
  isNoShape(" dilations 1x2", "");
  EXPECT_EQ(why("f16 forward 2x7x7x16 24x1x1 groups 1 strides 1x1 low 0x0 high "
                "0x0 dilations 1x1",
                "cudnn"),
            "tuning plan, line 2: 'f16 forward 2x7x7x16 24x1x1 groups 1 "
            "strides 1x1 low 0x0 high 0x0 dilations 1x1' is the product 'gemm "
            "f16 nt 1x98x24x16'");
  EXPECT_EQ(why(convolution, "cublaslt"),
            "tuning plan, line 2: 'cublaslt' is not a config of a product, as "
            "'128x128x32 stages 4 warps 2x4 resident 1 splits 1' is");
  EXPECT_NE(why(convolution, "64x64x32 stages 1 warps 2x2 resident 2 splits 1")
                .find("no kernel of path Half is made so"),
            std::string::npos);
  EXPECT_NE(why("f16 forward 1x8x8x64 64x3x3 groups 64 strides 1x1 low 1x1 "
                "high 1x1 dilations 1x1",
                "64x64x64 stages 4 warps 2x2 resident 2 splits 1")
                .find("a depthwise one is cut up as "),
            std::string::npos);
}

TEST(TunePlan, modulesOfConvolutionsHaveTheirShape) {
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = "cuda";
  for (const char *kind : {"forward", "backward_input", "backward_weight"})
    for (const char *rest :
         {" 2x9x8x6 4x3x3 groups 2 strides 2x1 low 1x0 high 0x1 dilations 1x2",
          " 2x5x5x8 8x3x3 groups 8 strides 1x1 low 1x1 high 1x1 dilations "
          "1x1"}) {
      TunedShape shape = llvm::cantFail(
          ConvolutionSizes::parse(std::string("f16 ") + kind + rest));
      auto program = mp::compile(moduleOf(shape), options);
      ASSERT_TRUE(bool(program)) << toString(program.takeError());
      ASSERT_EQ(shapesOf(*program).size(), 1u);
      EXPECT_EQ(lineOf(shapesOf(*program)[0]), lineOf(shape));
      // What the generated kernel is, a plan can say, too.
      llvm::StringRef line =
          llvm::StringRef(program->kernels[0].code).split('\n').first;
      ASSERT_TRUE(line.consume_front("// "));
      EXPECT_EQ(errorOf("mp.plan 1 sm_80\n" + line.str()), "");
    }
}

TEST(TunePlan, aLineForAConvolutionComesBeforeThatOfItsProduct) {
  TunedShape shape = llvm::cantFail(ConvolutionSizes::parse(
      "f16 forward 1x20x20x64 64x3x3 groups 1 strides 1x1 low 1x1 high 1x1 "
      "dilations 1x1"));
  std::string product = "64x64x32 stages 4 warps 2x2 resident 2 splits 1",
              own = "64x64x64 stages 4 warps 2x2 resident 2 splits 3";
  CompileOptions options;
  options.goal = Goal::Run;
  options.target = "cuda";
  auto configOf = [&](const std::string &lines) {
    options.plan = "mp.plan 1 sm_80\n" + lines;
    Program program = llvm::cantFail(compile(moduleOf(shape), options));
    return llvm::StringRef(program.kernels[0].code)
        .split('\n')
        .first.split(" = ")
        .second.str();
  };
  std::string gemm = "gemm " + productOf(shape).str() + " = " + product + "\n";
  EXPECT_EQ(configOf(gemm), product);
  EXPECT_EQ(configOf(gemm + lineOf(shape) + " = " + own + "\n"), own);
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
  EXPECT_EQ(
      errorOf("mp.plan 1 sm_80\nconv"),
      "tuning plan, line 2: expected 'gemm SHAPE = CONFIG' or 'conv SHAPE "
      "= CONFIG'");
  EXPECT_EQ(
      errorOf("mp.plan 1 sm_80\ngemm f16 nt 1x0x1x1 = cublaslt"),
      "tuning plan, line 2: 'f16 nt 1x0x1x1' is not a shape of a product, "
      "as 'f16 nt 1x128x256x784' is");
  EXPECT_EQ(errorOf("mp.plan 1 sm_80\ngemm f16 nt 1x1x1x1 = fast"),
            "tuning plan, line 2: 'fast' is not a config of a product, as "
            "'128x128x32 stages 4 warps 2x4 resident 1 splits 1' is");
  EXPECT_EQ(errorOf("mp.plan 1 sm_80\ngemm f16 nt 1x1x1x1 = cublaslt\n"
                    "gemm f16 nt 1x1x1x1 = cublaslt"),
            "tuning plan, line 3: 'gemm f16 nt 1x1x1x1' stands here twice");
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
  ASSERT_EQ(shapesOf(ours).size(), 1u);
  EXPECT_EQ(shapesOf(ours)[0], TunedShape(shape));

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
