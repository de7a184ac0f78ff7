//===- OpSamples.cpp - every differentiable op, as functions to compile ---===//
#include "OpSamples.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "llvm/Support/Regex.h"
#include "gtest/gtest.h"

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
  return precision::differentiableOps(sampleContext());
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

std::optional<SampleModules> sampleModules(const OpSample &sample) {
  auto made = precision::makeModules(sampleContext(), sample);
  if (made)
    return std::move(*made);
  llvm::consumeError(made.takeError()); // the caller handles it
  return std::nullopt;
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
