//===- gradients-test.cpp - every gradient rule against central differences
//-----===//
//
// Iterates the registry: an op with a gradient is found here without being
// named, by the samples it gives of itself. Each sample becomes a scalar
// function of its operands, loss = sum(weights * op(operands)), compiled in f64
// together with the gradient that mp-autodiff makes of it.
//
//===----------------------------------------------------------------------===//
#include "GoldenFunction.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mp;

namespace {
constexpr double kTolerance =
    1e-6; // relative to an operand's largest derivative
constexpr double kStep =
    1e-5; // error of central differences: step^2, and 1e-16 / step

struct Operand {
  RankedTensorType type;
  Numbers values;
};

/// A sample as a module with @f and @f.gradient.
class Sample {
public:
  Sample(MLIRContext &context, const OpSample &sample) : text("func.func @f(") {
    for (auto [index, operand] : llvm::enumerate(sample.operands))
      text +=
          (index ? ", %" : "%") + std::to_string(index) + ": " + operand.type;
    text += ") {\n  %r = " + sample.op + "\n  return\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return;
    auto function = *module->getOps<func::FuncOp>().begin();
    drawOperands(function, sample);
    appendLoss(function);
    PassManager manager(&context);
    manager.addPass(createAutodiff({"f"}));
    if (failed(manager.run(*module)))
      module = nullptr;
  }

  explicit operator bool() const { return bool(module); }

  std::string print() {
    std::string printed;
    llvm::raw_string_ostream(printed) << *module;
    return printed;
  }

  std::string text;
  std::vector<Operand> operands;
  OwningOpRef<ModuleOp> module;

private:
  void drawOperands(func::FuncOp function, const OpSample &sample) {
    std::mt19937_64 random(1);
    for (auto [argument, range] :
         llvm::zip_equal(function.getArguments(), sample.operands)) {
      Operand operand{cast<RankedTensorType>(argument.getType()), {}};
      bool isFlag = operand.type.getElementType().isInteger(1);
      bool isWhole = isa<IntegerType>(operand.type.getElementType());
      std::uniform_real_distribution<double> draw(range.low, range.high);
      while (static_cast<int64_t>(operand.values.size()) <
             operand.type.getNumElements())
        if (double value = draw(random); std::abs(value) >= range.gap)
          operand.values.push_back(isFlag    ? std::round(value)
                                   : isWhole ? std::floor(value)
                                             : value);
      operands.push_back(std::move(operand));
    }
  }

  /// return sum(weights * %r), with weights that are all different.
  static void appendLoss(func::FuncOp function) {
    Operation *terminator = function.getBody().front().getTerminator();
    ImplicitLocOpBuilder b(function.getLoc(), terminator);
    Value result = terminator->getPrevNode()->getResult(0);
    auto type = tensorType(result);
    std::vector<double> weights;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      weights.push_back(std::sin(i + 1.0));
    Value weight = ConstantOp::create(
        b, type,
        cast<ElementsAttr>(DenseElementsAttr::get(type, ArrayRef(weights))));
    Value product = MulOp::create(b, result, weight);
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Value loss =
        all.empty() ? product : Value(SumOp::create(b, product, all, false));
    terminator->setOperands(loss);
    function.setType(
        b.getFunctionType(function.getArgumentTypes(), loss.getType()));
  }
};

/// @f or @f.gradient, compiled.
class Function {
public:
  Function(StringRef module, StringRef name)
      : compiled(GoldenFunction::compile(module, name)) {
    if (!compiled)
      ADD_FAILURE() << toString(compiled.takeError()) << "\n" << module.str();
  }
  bool isReady() { return bool(compiled); }
  std::vector<Numbers> operator()(ArrayRef<Operand> operands) {
    auto inputs = llvm::map_to_vector(
        operands, [](const Operand &operand) { return operand.values; });
    return cantFail((*compiled)(inputs));
  }

private:
  llvm::Expected<GoldenFunction> compiled;
};

void checkSample(MLIRContext &context, const OpSample &text) {
  Sample sample(context, text);
  ASSERT_TRUE(sample) << sample.text;
  std::string module = sample.print();
  Function loss(module, "f"), gradient(module, "f.gradient");
  ASSERT_TRUE(loss.isReady() && gradient.isReady());
  std::vector<Numbers> analytic = gradient(sample.operands);
  size_t next = 0;
  for (Operand &operand : sample.operands) {
    if (!isa<FloatType>(operand.type.getElementType()))
      continue;
    const Numbers &exact = analytic.at(next++);
    // Only f64 operands are differentiated; a scale in f32 is a constant.
    if (!operand.type.getElementType().isF64())
      continue;
    double largest = 0, worst = 0;
    for (auto [value, derivative] : llvm::zip_equal(operand.values, exact)) {
      double saved = value;
      value = saved + kStep;
      double above = loss(sample.operands).front().front();
      value = saved - kStep;
      double below = loss(sample.operands).front().front();
      value = saved;
      double numeric = (above - below) / (2 * kStep);
      largest = std::max({largest, std::abs(numeric), std::abs(derivative)});
      worst = std::max(worst, std::abs(numeric - derivative));
    }
    EXPECT_LE(worst, kTolerance * largest) << sample.text;
    EXPECT_GT(largest, 0) << sample.text << "nothing depends on this operand";
  }
}
} // namespace

TEST(Gradients, AgreeWithCentralDifferences) {
  DialectRegistry registry;
  registry.insert<MpDialect, func::FuncDialect>();
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  unsigned checked = 0;
  for (RegisteredOperationName op :
       context.getRegisteredOperationsByDialect("mp")) {
    auto *rule = op.getInterface<DifferentiableOpInterface>();
    if (!rule || !rule->whyNotDifferentiable().empty())
      continue;
    auto samples = rule->sampleInputs();
    EXPECT_FALSE(samples.empty())
        << op.getStringRef().str() << " has a gradient but no sample of it";
    for (const OpSample &sample : samples)
      checkSample(context, sample);
    checked += !samples.empty();
  }
  // More than the ops of a perceptron; an empty registry must not pass.
  EXPECT_GE(checked, 25u);
}
