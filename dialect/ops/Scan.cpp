//===- Scan.cpp - a loop over time steps ----------------------------------===//
#include "dialect/ops/Scan.h"
#include "dialect/ops/Kernel.h"

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<int64_t> ScanOp::getSteps() {
  if (auto given = getLength())
    return *given;
  for (Value value : getSliced()) {
    auto type = tensorType(value);
    if (getDim() < static_cast<uint64_t>(type.getRank()) &&
        !type.isDynamicDim(getDim()))
      return type.getDimSize(getDim());
  }
  return std::nullopt;
}

/// The type without a dimension; null if it has none such.
static RankedTensorType withoutDim(RankedTensorType type, uint64_t dim) {
  if (dim >= static_cast<uint64_t>(type.getRank()))
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  return type.clone(shape);
}

RankedTensorType ScanOp::sliceOf(RankedTensorType type) {
  return withoutDim(type, getDim());
}

RankedTensorType ScanOp::stackOf(RankedTensorType type) {
  auto steps = getSteps();
  if (!steps || getDim() > static_cast<uint64_t>(type.getRank()))
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + getDim(), *steps);
  return type.clone(shape);
}

FailureOr<BatchMultiples> ScanOp::inferMultiples(MultipleOf multipleOf) {
  BatchMultiples multiples;
  for (Value carried : getCarried())
    multiples.push_back(multipleOf(carried));
  for (Value stacked : getYielded().drop_front(getCarried().size()))
    multiples.push_back(multipleOf(stacked));
  return multiples;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  if (static_cast<int64_t>(getDim()) < 0)
    return emitOpError() << "runs along dimension "
                         << static_cast<int64_t>(getDim())
                         << ", expected one from 0 on";
  for (Value value : getSliced()) {
    auto type = tensorType(value);
    if (!sliceOf(type))
      return emitOpError() << "runs along dimension " << getDim() << ", which "
                           << type << " does not have";
    if (type.isDynamicDim(getDim()))
      return emitOpError() << "runs along the batch of " << type
                           << ", but the number of time steps has to be known";
  }
  auto steps = getSteps();
  if (!steps)
    return emitOpError("runs over nothing, so it needs the number of time "
                       "steps: length(5)");
  if (*steps < 0)
    return emitOpError() << "has length " << *steps;
  if (getUnroll() && static_cast<int64_t>(*getUnroll()) < 1)
    return emitOpError() << "has " << static_cast<int64_t>(*getUnroll())
                         << " time steps in a round, expected at least 1";
  for (Value value : getSliced())
    if (int64_t size = tensorType(value).getDimSize(getDim()); size != *steps)
      return emitOpError() << "has " << *steps << " time steps, but "
                           << value.getType() << " has " << size
                           << " in dimension " << getDim();
  return success();
}

/// Checks the arguments of the body against the operands.
static LogicalResult verifyArguments(ScanOp op) {
  Block &body = op.getBody().front();
  if (body.getNumArguments() != op.getCarried().size() + op.getSliced().size())
    return op.emitOpError()
           << "has " << body.getNumArguments() << " block arguments for "
           << op.getCarried().size() << " carried values and "
           << op.getSliced().size() << " slices";
  for (auto [argument, value] : llvm::zip(body.getArguments(), op.getCarried()))
    if (argument.getType() != value.getType())
      return op.emitOpError()
             << "carries " << value.getType() << " into a block argument of "
             << argument.getType();
  for (auto [argument, value] :
       llvm::zip(body.getArguments().drop_front(op.getCarried().size()),
                 op.getSliced()))
    if (Type slice = op.sliceOf(tensorType(value)); argument.getType() != slice)
      return op.emitOpError()
             << "gives slices of " << slice << " to a block argument of "
             << argument.getType();
  return success();
}

/// Checks what the body yields against the carried values and the results.
static LogicalResult verifyYielded(ScanOp op) {
  ValueRange yielded = op.getYielded();
  Location place = op.getBody().front().getTerminator()->getLoc();
  size_t carried = op.getCarried().size();
  if (yielded.size() < carried || yielded.size() != op.getNumResults()) {
    auto error = op.emitOpError() << "carries " << carried << " values and has "
                                  << op.getNumResults() << " results";
    error.attachNote(place) << "and yields " << yielded.size();
    return error;
  }
  for (auto [index, value] : llvm::enumerate(yielded)) {
    bool isCarried = index < carried;
    Type expected = isCarried ? op.getCarried()[index].getType()
                              : op.stackOf(tensorType(value));
    if (isCarried && value.getType() != expected) {
      auto error = op.emitOpError() << "carries " << expected
                                    << ", and a carried value keeps its type";
      error.attachNote(place) << "but yields " << value.getType();
      return error;
    }
    if (!expected)
      return op.emitOpError() << "cannot stack " << value.getType()
                              << " along dimension " << op.getDim();
    if (op.getResult(index).getType() != expected)
      return op.emitOpError()
             << "has a result of " << op.getResult(index).getType()
             << ", expected " << expected;
  }
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  if (failed(verifyArguments(*this)) || failed(verifyYielded(*this)))
    return failure();
  WalkResult walked = getBody().walk([&](Operation *op) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects || !effects.hasEffect<MemoryEffects::Write>())
      return WalkResult::advance();
    op->emitOpError("writes a variable in every time step of a scan: yield "
                    "the value, and write it after the scan");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// The two lists of values, each `%argument = %value : type`.
struct Bindings {
  ParseResult parse(OpAsmParser &parser) {
    where = parser.getCurrentLocation();
    return parser.parseCommaSeparatedList(
        OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
          return failure(parser.parseArgument(arguments.emplace_back()) ||
                         parser.parseEqual() ||
                         parser.parseOperand(values.emplace_back()) ||
                         parser.parseColonType(types.emplace_back()));
        });
  }

  SMLoc where;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> values;
  SmallVector<Type> types;
};
} // namespace

/// Parses `keyword(number)` if it is there.
static ParseResult parseNumber(OpAsmParser &parser, StringRef keyword,
                               IntegerAttr &number) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  int64_t value;
  if (parser.parseLParen() || parser.parseInteger(value) ||
      parser.parseRParen())
    return failure();
  number = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

// mp.scan [carried(%a = %x : T, ...)] [over(%b = %y : T, ...)] [dim(1)]
// [length(5)] [reverse] [unroll(2)] [attributes {...}] [-> T, ...] { ... }
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &state) {
  Bindings carried, sliced;
  if ((succeeded(parser.parseOptionalKeyword("carried")) &&
       carried.parse(parser)) ||
      (succeeded(parser.parseOptionalKeyword("over")) && sliced.parse(parser)))
    return failure();
  auto &properties = state.getOrAddProperties<ScanOp::Properties>();
  properties.dim = parser.getBuilder().getI64IntegerAttr(0);
  if (parseNumber(parser, "dim", properties.dim) ||
      parseNumber(parser, "length", properties.length))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.reverse = parser.getBuilder().getUnitAttr();
  if (parseNumber(parser, "unroll", properties.unroll))
    return failure();
  SmallVector<Type> results;
  if (parser.resolveOperands(carried.values, carried.types, carried.where,
                             state.operands) ||
      parser.resolveOperands(sliced.values, sliced.types, sliced.where,
                             state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseOptionalArrowTypeList(results))
    return failure();
  state.addTypes(results);
  properties.operandSegmentSizes = {static_cast<int32_t>(carried.values.size()),
                                    static_cast<int32_t>(sliced.values.size())};

  for (auto [argument, type] : llvm::zip(carried.arguments, carried.types))
    argument.type = type;
  // Where there is no such slice, the verifier says so.
  for (auto [argument, type] : llvm::zip(sliced.arguments, sliced.types)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    Type slice = tensor ? withoutDim(tensor, properties.dim.getInt())
                        : RankedTensorType();
    argument.type = slice ? slice : type;
  }
  auto arguments = llvm::to_vector(
      llvm::concat<OpAsmParser::Argument>(carried.arguments, sliced.arguments));
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), state.location);
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  auto printBindings = [&](StringRef keyword, auto arguments,
                           ValueRange values) {
    if (values.empty())
      return;
    printer << ' ' << keyword << '(';
    llvm::interleaveComma(
        llvm::zip_equal(arguments, values), printer, [&](auto pair) {
          auto [argument, value] = pair;
          printer << argument << " = " << value << " : " << value.getType();
        });
    printer << ')';
  };
  auto arguments = getBody().getArguments();
  printBindings("carried", arguments.take_front(getCarried().size()),
                getCarried());
  printBindings("over", arguments.drop_front(getCarried().size()), getSliced());
  if (getDim())
    printer << " dim(" << getDim() << ')';
  if (getLength())
    printer << " length(" << *getLength() << ')';
  if (getReverse())
    printer << " reverse";
  if (getUnroll())
    printer << " unroll(" << *getUnroll() << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"operandSegmentSizes", "dim", "length", "reverse", "unroll"});
  printer.printOptionalArrowTypeList(getResultTypes());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}
