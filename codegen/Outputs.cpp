//===- Outputs.cpp - values that a caller asks for ------------------------===//
#include "codegen/Outputs.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Parser/Parser.h"
#include "passes/analysis/BackwardOps.h"
#include "passes/analysis/Recipe.h"
#include "support/Spelling.h"

using namespace mlir;

namespace mp {

static StringRef textOf(llvm::SMRange range) {
  return {range.Start.getPointer(),
          size_t(range.End.getPointer() - range.Start.getPointer())};
}

OwningOpRef<ModuleOp> ValueNames::parse(llvm::SourceMgr &sources,
                                        MLIRContext *context, bool keepsNames) {
  if (!keepsNames)
    return parseSourceFile<ModuleOp>(sources, context);
  Block block;
  AsmParserState state;
  if (failed(
          parseAsmSourceFile(sources, &block, ParserConfig(context), &state)))
    return {};
  auto module =
      mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
          &block, context, UnknownLoc::get(context));
  for (const auto &op : state.getOpDefs())
    for (const auto &group : op.resultGroups)
      values.emplace_back(op.op->getResult(group.startIndex),
                          textOf(group.definition.loc).str());
  return module;
}

FailureOr<Value> ValueNames::lookup(func::FuncOp function,
                                    StringRef name) const {
  std::vector<std::string> known;
  for (const auto &[value, text] : values) {
    if (value.getDefiningOp()->getParentOp() != function)
      continue;
    if (text == name)
      return value;
    known.push_back(text);
  }
  return function.emitError()
         << "function '" << function.getName() << "' computes no value '"
         << name << "'" << suggest(name, known);
}

static StringRef resultName(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, kNameAttr);
  return name ? name.getValue() : StringRef();
}

LogicalResult returnValues(func::FuncOp function, ArrayRef<std::string> outputs,
                           const ValueNames &names) {
  for (StringRef output : outputs) {
    StringRef name = output;
    if (!name.consume_front(kValueOutput) || namedResult(function, output))
      continue;
    auto value = names.lookup(function, name);
    if (failed(value))
      return failure();
    if (auto uses = function.getSymbolUses(function->getParentOp()))
      for (SymbolTable::SymbolUse use : *uses)
        if (auto call = dyn_cast<func::CallOp>(use.getUser()))
          return call.emitError()
                 << "calls '" << function.getName()
                 << "', which then cannot return '" << output << "' on request";
    appendNamedResult(function, *value, output);
  }
  return success();
}

/// Returns the results of these names. Without names, those with the batch
/// dimension.
static FailureOr<llvm::BitVector> chooseResults(func::FuncOp function,
                                                ArrayRef<std::string> names) {
  llvm::BitVector kept(function.getNumResults());
  std::vector<std::string> known;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && names.empty() && tensor.getRank() && tensor.isDynamicDim(0))
      kept.set(i);
    if (StringRef name = resultName(function, i); !name.empty())
      known.push_back(name.str());
  }
  for (const std::string &name : names) {
    OpOperand *result = namedResult(function, name);
    if (!result)
      return function.emitError()
             << "function '" << function.getName() << "' returns no '" << name
             << "' to predict" << suggest(name, known)
             << "; \"value:%x\" stands for its value %x";
    kept.set(result->getOperandNumber());
  }
  if (kept.none())
    return function.emitError()
           << "function '" << function.getName()
           << "' returns nothing with the batch dimension to predict: name "
              "what "
              "to predict, such as \"value:%logits\" for its value %logits";
  return kept;
}

LogicalResult keepResults(func::FuncOp function, ArrayRef<std::string> names) {
  auto kept = chooseResults(function, names);
  if (failed(kept))
    return failure();
  llvm::BitVector dropped = *kept;
  dropped.flip();
  function.getBody().front().getTerminator()->eraseOperands(dropped);
  if (failed(function.eraseResults(dropped)))
    return failure();
  eraseDead(function);
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty();
  return function.eraseArguments(unused);
}

} // namespace mp
