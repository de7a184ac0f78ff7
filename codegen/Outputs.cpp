//===- Outputs.cpp - values that a caller asks for ------------------------===//
#include "codegen/Outputs.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Parser/Parser.h"
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

} // namespace mp
