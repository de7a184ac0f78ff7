//===- Kernel.cpp - kernels as IR -----------------------------------------===//
#include "dialect/ops/Kernel.h"
#include "program/Limits.h"

using namespace mlir;
using namespace mp;

// mp.kernel(%a = %x : T [as S], ...) [if %flag] [attributes {...}] [-> T, ...]
// { ... }
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, results;
  auto parseInput = [&]() -> ParseResult {
    auto &argument = arguments.emplace_back();
    auto &operand = operands.emplace_back();
    Type &type = types.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(operand) || parser.parseColonType(type))
      return failure();
    argument.type = type;
    return succeeded(parser.parseOptionalKeyword("as"))
               ? parser.parseType(argument.type)
               : success();
  };
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseInput) ||
      parser.resolveOperands(operands, types, where, state.operands))
    return failure();
  bool predicated = succeeded(parser.parseOptionalKeyword("if"));
  if (predicated) {
    OpAsmParser::UnresolvedOperand flag;
    auto type = RankedTensorType::get({}, parser.getBuilder().getI1Type());
    if (parser.parseOperand(flag) ||
        parser.resolveOperand(flag, type, state.operands))
      return failure();
  }
  SMLoc attributes = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseOptionalArrowTypeList(results))
    return failure();
  state.addTypes(results);
  auto &properties = state.getOrAddProperties<KernelOp::Properties>();
  if (Attribute ops = state.attributes.erase(getOpsAttrName(state.name))) {
    properties.ops = dyn_cast<StringAttr>(ops);
    if (!properties.ops)
      return parser.emitError(attributes)
             << "ops is " << ops << ", expected a string";
  }
  properties.operandSegmentSizes = {static_cast<int32_t>(arguments.size()),
                                    predicated ? 1 : 0};
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), state.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          auto [argument, input] = pair;
                          printer << argument << " = " << input << " : "
                                  << input.getType();
                          if (argument.getType() != input.getType())
                            printer << " as " << argument.getType();
                        });
  printer << ')';
  if (getPredicate())
    printer << " if " << getPredicate();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"operandSegmentSizes"});
  printer.printOptionalArrowTypeList(getResultTypes());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Whether two types have the same bytes: inside, a kernel may see another
/// shape with as many elements, and signless integers.
static bool isSameMemory(Type lhs, Type rhs) {
  auto left = dyn_cast<RankedTensorType>(lhs),
       right = dyn_cast<RankedTensorType>(rhs);
  if (!left || !right || !left.hasStaticShape() || !right.hasStaticShape())
    return lhs == rhs;
  auto signless = [](Type type) -> Type {
    auto integer = dyn_cast<IntegerType>(type);
    return integer ? IntegerType::get(type.getContext(), integer.getWidth())
                   : type;
  };
  return left.getNumElements() == right.getNumElements() &&
         signless(left.getElementType()) == signless(right.getElementType());
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size())
    return emitOpError() << "has " << getInputs().size() << " inputs but "
                         << body.getNumArguments() << " block arguments";
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), getInputs()))
    if (!isSameMemory(argument.getType(), input.getType()))
      return emitOpError() << "gives " << input.getType()
                           << " to a block argument of " << argument.getType();
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getNumOperands() != getNumResults())
    return yield.emitOpError()
           << "yields " << yield.getNumOperands() << " values for "
           << getNumResults() << " results";
  for (auto [inner, outer] :
       llvm::zip_equal(yield.getOperandTypes(), getResultTypes()))
    if (!isSameMemory(inner, outer))
      return yield.emitOpError()
             << "yields " << inner << " as a result of " << outer;
  return success();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

LogicalResult
RowsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                         llvm::function_ref<InFlightDiagnostic()> error) const {
  if (ShapedType::isDynamicShape(shape))
    return error() << "a layout wants a shape without '?'";
  int64_t elements = ShapedType::getNumElements(shape);
  if (getCount() < 1 || elements % getCount() != 0)
    return error() << elements << " elements are not " << getCount()
                   << " rows of as many each";
  if (getStride() > kMostElements / getCount())
    return error() << getCount() << " rows at a stride of " << getStride()
                   << " are too far apart";
  if (getStride() < elements / getCount())
    return error() << "rows of " << elements / getCount()
                   << " elements overlap at a stride of " << getStride();
  if (!llvm::isPowerOf2_64(getAligned()) || getStride() % getAligned() != 0)
    return error() << "aligned is " << getAligned()
                   << ", expected a power of two that divides the stride";
  return success();
}

/// Fails unless `part` lies within `whole` from element `offset` on.
static LogicalResult verifyPart(Operation *op, RankedTensorType part,
                                RankedTensorType whole, int64_t offset) {
  if (!part.hasStaticShape() || !whole.hasStaticShape() || whole.getEncoding())
    return op->emitOpError() << "wants static shapes, and parts of a tensor "
                                "without a layout of its own";
  if (part.getElementType() != whole.getElementType())
    return op->emitOpError() << "has elements of " << part.getElementType()
                             << " in a tensor of " << whole.getElementType();
  int64_t size = part.getNumElements();
  auto rows = RowsAttr::of(part);
  int64_t extent = rows ? rows.extent(size) : size;
  if (offset < 0 || extent > whole.getNumElements() - offset)
    return op->emitOpError()
           << part << " at " << offset << " does not lie within " << whole;
  if (rows && offset % rows.getAligned() != 0)
    return op->emitOpError() << offset << " is no multiple of "
                             << rows.getAligned() << ", as the layout says";
  return success();
}

LogicalResult PartOp::verify() {
  return verifyPart(*this, getType(), tensorType(getInput()), getOffset());
}

LogicalResult AssembleOp::verify() {
  if (getOffsets().size() != getParts().size())
    return emitOpError() << "has " << getOffsets().size() << " offsets for "
                         << getParts().size() << " parts";
  int64_t elements = 0;
  for (auto [part, offset] : llvm::zip_equal(getParts(), getOffsets())) {
    if (failed(verifyPart(*this, tensorType(part), getType(), offset)))
      return failure();
    if (!isa_and_nonnull<KernelOp, AssembleOp>(part.getDefiningOp()))
      return emitOpError() << "wants parts that kernels have written";
    if (!llvm::hasSingleElement(
            llvm::make_filter_range(part.getUsers(), [](Operation *user) {
              return isa<AssembleOp>(user);
            })))
      return emitOpError() << "shares a part with another one";
    elements += tensorType(part).getNumElements();
  }
  if (elements != getType().getNumElements())
    return emitOpError() << "has parts of " << elements << " elements for "
                         << getType();
  return success();
}
