//===- Kernel.cpp - kernels as IR -----------------------------------------===//
#include "dialect/Mp.h"

using namespace mlir;
using namespace mp;

// mp.kernel(%a = %x : T, ...) [if %flag] [attributes {...}] [-> T, ...] { ... }
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, results;
  auto parseInput = [&]() -> ParseResult {
    auto &argument = arguments.emplace_back();
    auto &operand = operands.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(operand) ||
        parser.parseColonType(argument.type))
      return failure();
    types.push_back(argument.type);
    return success();
  };
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInput) ||
      parser.resolveOperands(operands, types, where, state.operands))
    return failure();
  bool predicated = succeeded(parser.parseOptionalKeyword("if"));
  if (predicated) {
    OpAsmParser::UnresolvedOperand flag;
    auto type = RankedTensorType::get({}, parser.getBuilder().getI1Type());
    if (parser.parseOperand(flag) || parser.resolveOperand(flag, type, state.operands))
      return failure();
  }
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseOptionalArrowTypeList(results))
    return failure();
  state.addTypes(results);
  auto &properties = state.getOrAddProperties<KernelOp::Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(arguments.size()), predicated ? 1 : 0};
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), state.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    auto [argument, input] = pair;
    printer << argument << " = " << input << " : " << input.getType();
  });
  printer << ')';
  if (getPredicate())
    printer << " if " << getPredicate();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"operandSegmentSizes"});
  printer.printOptionalArrowTypeList(getResultTypes());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size())
    return emitOpError() << "has " << getInputs().size() << " inputs but " << body.getNumArguments()
                         << " block arguments";
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), getInputs()))
    if (argument.getType() != input.getType())
      return emitOpError() << "gives " << input.getType() << " to a block argument of " << argument.getType();
  auto yield = cast<YieldOp>(body.getTerminator());
  if (!llvm::equal(yield.getOperandTypes(), getResultTypes()))
    return yield.emitOpError() << "yields other types than the kernel's results";
  return success();
}
