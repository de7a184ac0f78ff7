//===- OpSamples.cpp - every differentiable op, as functions to compile ---===//
#include "OpSamples.h"
#include "dialect/ops/Arithmetic.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Reduction.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "llvm/Support/Regex.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;

namespace mp {

MLIRContext &sampleContext() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registry.insert<MpDialect, func::FuncDialect>();
    auto *made = new MLIRContext(registry);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

std::vector<DifferentiableOp> differentiableOps() {
  std::vector<DifferentiableOp> all;
  for (RegisteredOperationName op :
       sampleContext().getRegisteredOperationsByDialect("mp")) {
    auto *rule = op.getInterface<DifferentiableOpInterface>();
    if (rule && rule->whyNotDifferentiable().empty())
      all.push_back({op.getStringRef().str(), rule->sampleInputs()});
  }
  return all;
}

std::vector<OpSample> differentiableSamples() {
  std::vector<OpSample> all;
  for (DifferentiableOp &op : differentiableOps())
    llvm::append_range(all, op.samples);
  return all;
}

/// Replaces one word by another.
static void put(std::string &text, StringRef word, StringRef other) {
  for (size_t at; (at = text.find(word)) != std::string::npos;)
    text.replace(at, word.size(), other);
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

std::string differentiated(StringRef text, StringRef function) {
  auto module = parseSourceString<ModuleOp>(text, &sampleContext());
  PassManager manager(&sampleContext());
  manager.addPass(createAutodiff({function.str()}));
  if (!module || failed(manager.run(*module))) {
    ADD_FAILURE() << "no gradient of\n" << text.str();
    return "";
  }
  return print(*module);
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
static Value buildLoss(ResultRange results) {
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

std::optional<SampleModules> sampleModules(const OpSample &sample) {
  MLIRContext &context = sampleContext();
  // The caller handles a module that does not parse.
  ScopedDiagnosticHandler silent(&context,
                                 [](Diagnostic &) { return success(); });
  std::string text = "func.func @f(";
  for (auto [index, operand] : llvm::enumerate(sample.operands))
    text += (index ? ", %" : "%") + std::to_string(index) + ": " + operand.type;
  text += ") {\n  " + sample.op + "\n  return\n}\n";
  put(text, "F64", "f64");
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return std::nullopt;
  auto function = *module->getOps<func::FuncOp>().begin();
  SampleModules made;
  for (BlockArgument argument : function.getArguments())
    made.types.push_back(cast<RankedTensorType>(argument.getType()));
  made.operands = drawOperands(function, sample);
  ResultRange results =
      function.getBody().front().getTerminator()->getPrevNode()->getResults();
  returnValues(function, results);
  made.forward = print(*module);
  returnValues(function, buildLoss(results));
  PassManager manager(&context);
  manager.addPass(createAutodiff({"f"}));
  if (failed(manager.run(*module)))
    return std::nullopt;
  made.backward = print(*module);
  return made;
}

/// Sizes below 7 become larger ones; a size keeps its partner's.
static std::string enlarge(StringRef text) {
  static constexpr int64_t sizes[] = {0, 1, 3, 33, 65, 17, 37};
  std::string larger;
  while (!text.empty()) {
    size_t at = text.find("tensor<");
    if (at == StringRef::npos)
      return larger + text.str();
    at += StringRef("tensor<").size();
    larger += text.take_front(at);
    text = text.drop_front(at);
    unsigned long long size;
    while (!text.empty() && isdigit(text.front())) {
      text.consumeInteger(10, size);
      larger += std::to_string(size < std::size(sizes) ? sizes[size] : size);
      if (text.consume_front("x"))
        larger += "x";
    }
  }
  return larger;
}

static OpSample withFloats(OpSample sample, StringRef floats) {
  auto replace = [&](std::string &text) {
    put(text, "f64", floats);
    put(text, "F64", "f32");
  };
  replace(sample.op);
  for (auto &operand : sample.operands)
    replace(operand.type);
  return sample;
}

std::optional<SampleModules> sampleModules(const OpSample &sample,
                                           StringRef floats) {
  OpSample retyped = withFloats(sample, floats), larger = retyped;
  larger.op = enlarge(larger.op);
  for (auto &operand : larger.operands)
    operand.type = enlarge(operand.type);
  if (auto made = sampleModules(larger))
    return made;
  return sampleModules(retyped);
}

SampleFunction::SampleFunction(StringRef module, StringRef name)
    : compiled(GoldenFunction::compile(module, name)) {
  if (!compiled)
    ADD_FAILURE() << toString(compiled.takeError()) << "\n" << module.str();
}

std::vector<Numbers> SampleFunction::operator()(ArrayRef<Numbers> operands) {
  return cantFail((*compiled)(operands));
}

} // namespace mp
