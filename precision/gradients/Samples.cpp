//===- Samples.cpp - ops with a gradient, as functions to compile ---------===//
#include "precision/gradients/Samples.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Reduction.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include <random>

using namespace mlir;

namespace mp::precision {

std::vector<DifferentiableOp> differentiableOps(MLIRContext &context) {
  std::vector<DifferentiableOp> all;
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    auto *rule = op.getInterface<DifferentiableOpInterface>();
    if (rule && rule->whyNotDifferentiable().empty())
      all.push_back({op.getStringRef().str(), rule->sampleInputs()});
  }
  llvm::sort(all, [](const DifferentiableOp &a, const DifferentiableOp &b) {
    return a.name < b.name;
  });
  return all;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

static std::vector<Numbers> drawOperands(func::FuncOp function,
                                         const OpSample &sample) {
  std::mt19937_64 random(1);
  std::vector<Numbers> operands;
  for (auto [argument, range] :
       llvm::zip_equal(function.getArguments(), sample.operands)) {
    auto type = cast<RankedTensorType>(argument.getType());
    bool isFlag = type.getElementType().isInteger(1);
    bool isWhole = isa<IntegerType>(type.getElementType());
    std::uniform_real_distribution<double> draw(range.low, range.high);
    Numbers &values = operands.emplace_back();
    while (static_cast<int64_t>(values.size()) < type.getNumElements())
      if (double value = draw(random); std::abs(value) >= range.gap)
        values.push_back(isFlag    ? std::round(value)
                         : isWhole ? std::floor(value)
                                   : value);
  }
  return operands;
}

static void returnValues(func::FuncOp function, ValueRange values) {
  function.getBody().front().getTerminator()->setOperands(values);
  function.setType(FunctionType::get(
      function.getContext(), function.getArgumentTypes(), values.getTypes()));
}

/// sum(weights * result), with weights that are all different.
static Value buildLoss(Value result) {
  ImplicitLocOpBuilder b(result.getLoc(), result.getContext());
  b.setInsertionPointAfterValue(result);
  auto type = tensorType(result);
  auto element = cast<FloatType>(type.getElementType());
  SmallVector<APFloat> weights;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    APFloat weight(std::sin(i + 1.0));
    bool losesInfo;
    weight.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    weights.push_back(weight);
  }
  Value weight = ConstantOp::create(
      b, type, cast<ElementsAttr>(DenseElementsAttr::get(type, weights)));
  Value product = MulOp::create(b, result, weight);
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return all.empty() ? product : Value(SumOp::create(b, product, all, false));
}

/// The sum of all results' losses, in the first one's type.
static Value buildLoss(ValueRange results) {
  Value total;
  for (Value result : results) {
    Value loss = buildLoss(result);
    if (!total) {
      total = loss;
      continue;
    }
    ImplicitLocOpBuilder b(result.getLoc(), result.getContext());
    b.setInsertionPoint(result.getParentBlock()->getTerminator());
    total = AddOp::create(b, total, castTo(b, loss, elementType(total)));
  }
  return total;
}

/// "func.func @f(%0: tensor<4xf64>) { mp.exp %0 ... }", in f64.
static std::string functionOf(const OpSample &sample) {
  std::string text = "func.func @f(";
  for (auto [index, operand] : llvm::enumerate(sample.operands))
    text += (index ? ", %" : "%") + std::to_string(index) + ": " + operand.type;
  text += ") {\n  " + sample.op + "\n  return\n}\n";
  for (size_t at; (at = text.find("F64")) != std::string::npos;)
    text[at] = 'f';
  return text;
}

llvm::Expected<SampleModules> makeModules(MLIRContext &context,
                                          const OpSample &sample) {
  std::string errors;
  ScopedDiagnosticHandler collect(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors += (errors.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(functionOf(sample), &context);
  if (!module)
    return llvm::createStringError(errors);
  auto function = *module->getOps<func::FuncOp>().begin();
  SampleModules made;
  for (BlockArgument argument : function.getArguments())
    made.types.push_back(cast<RankedTensorType>(argument.getType()));
  made.operands = drawOperands(function, sample);
  Operation *op = function.getBody().front().getTerminator()->getPrevNode();
  // Indices have no derivative.
  auto results = llvm::to_vector(
      llvm::make_filter_range(ValueRange(op->getResults()), isFloatTensor));
  returnValues(function, results);
  made.forward = print(*module);
  returnValues(function, buildLoss(results));
  PassManager manager(&context);
  manager.addPass(createAutodiff({"f"}));
  if (failed(manager.run(*module)))
    return llvm::createStringError(errors);
  made.backward = print(*module);
  return made;
}

} // namespace mp::precision
