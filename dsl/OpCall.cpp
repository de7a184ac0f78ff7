//===- OpCall.cpp - from a function of the DSL to an op -------------------===//
#include "dsl/GraphState.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "program/ModuleText.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace mantissa {

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

void OpCall::at(Place where) {
  if (!place)
    place = where;
}

void OpCall::in(const Context &context) {
  state = &context.graph.internals();
  at(context.place);
}

void OpCall::operand(const Operand &operand) {
  at(operand.place);
  segments.push_back(1);
  operands.push_back(operand);
}

void OpCall::operand(const Operands &many) {
  at(many.place);
  segments.push_back(many.tensors.size());
  for (const Tensor &tensor : many.tensors)
    operands.emplace_back(tensor, many.place);
}

void OpCall::operand(const Tensor &optional) {
  bool isGiven = optional.graph;
  segments.push_back(isGiven);
  if (isGiven)
    operands.emplace_back(optional, *place);
}

// Attributes are written as MLIR reads them.

void OpCall::attribute(const char *name, bool value) {
  // The flags of ops are there or not.
  if (value)
    attributes.emplace_back(name, "unit");
}
void OpCall::attribute(const char *name, int64_t value) {
  attributes.emplace_back(name, std::to_string(value) + " : i64");
}
void OpCall::attribute(const char *name, double value) {
  // As bits, which are exact, and stand for infinities too.
  attributes.emplace_back(
      name, "0x" + llvm::utohexstr(llvm::bit_cast<uint64_t>(value), false, 16) +
                " : f64");
}
void OpCall::attribute(const char *name, const std::string &value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '"';
  llvm::printEscapedString(value, os);
  os << '"';
  attributes.emplace_back(name, text);
}
void OpCall::attribute(const char *name, const Dims &value) {
  attributes.emplace_back(
      name,
      value.empty()
          ? "array<i64>"
          : "array<i64: " +
                llvm::join(llvm::map_range(value,
                                           [](int64_t number) {
                                             return std::to_string(number);
                                           }),
                           ", ") +
                ">");
}
void OpCall::attribute(const char *name, ElementType value) {
  attributes.emplace_back(
      name, isElementType(value) ? mp::elementTypeName(value).str() : "");
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

std::string OpCall::describeOperands() const {
  std::vector<std::string> types;
  for (const Operand &operand : operands)
    types.push_back(operand.isNumber ? "a number" : operand.tensor.type());
  return types.empty() ? "" : "the operands are " + llvm::join(types, ", ");
}

/// Returns the tensor whose element type numbers take: the first one that is
/// not a condition, as in select(x > 0, x, 0).
const Tensor *OpCall::partnerOfNumbers() const {
  const Tensor *partner = nullptr;
  for (const Operand &operand : operands)
    if (!operand.isNumber && (!partner || partner->element() == I1))
      partner = &operand.tensor;
  return partner;
}

bool OpCall::prepare(SmallVectorImpl<Value> &values) {
  const Tensor *partner = partnerOfNumbers();
  if (partner && !state->accept(*partner, *place))
    return false;
  for (const Operand &operand : operands) {
    Tensor tensor = operand.tensor;
    if (operand.isNumber && partner) {
      auto type =
          cast<RankedTensorType>(GraphState::valueOf(*partner).getType());
      tensor = state->constant(operand.number, type.getElementType(), *place);
    }
    if (!state->accept(tensor, *place))
      return false;
    values.push_back(GraphState::valueOf(tensor));
  }
  return true;
}

/// As the ops' own builders do, but for any op by its name.
static LogicalResult inferTypes(OperationState &op) {
  RegisteredOperationName info = *op.name.getRegisteredInfo();
  auto *inference = info.getInterface<InferTypeOpInterface>();
  MLIRContext *context = op.getContext();
  DictionaryAttr attributes = op.attributes.getDictionary(context);
  std::vector<char> bytes(info.getOpPropertyByteSize());
  OpaqueProperties properties(bytes.empty() ? nullptr : bytes.data());
  auto emitError = [&] { return mlir::emitError(op.location); };
  if (properties) {
    info.initOpProperties(properties, nullptr);
    if (failed(info.setOpPropertiesFromAttribute(op.name, properties,
                                                 attributes, emitError)))
      return failure();
  }
  auto result =
      inference->inferReturnTypes(context, op.location, op.operands, attributes,
                                  properties, op.regions, op.types);
  if (properties)
    info.destroyOpProperties(properties);
  return result;
}

std::vector<Tensor> OpCall::emit() {
  for (const Operand &operand : operands)
    if (!state && operand.tensor.graph)
      state = operand.tensor.graph;
  // Numbers alone belong to no graph, nor does what a mistake without one left.
  if (!state)
    return std::vector<Tensor>(count);
  std::vector<Tensor> none(count, state->none());
  SmallVector<Value> values;
  if (!prepare(values) ||
      (resultType && !state->acceptType("the result", resultType->element,
                                        resultType->shape, *place)))
    return none;

  Operation *made = nullptr;
  bool isRight =
      state->attempt(*place, describeOperands(), [&]() -> LogicalResult {
        OperationState op(state->locate(*place), name);
        op.addOperands(values);
        for (const auto &[key, text] : attributes) {
          // Enumerations leave the text empty.
          if (text.empty())
            return mlir::emitError(op.location)
                   << "'" << key << "' is a number that its type does not have";
          if (llvm::Error error = mp::checkModuleText(text, key))
            return mlir::emitError(op.location) << toString(std::move(error));
          Attribute parsed = mlir::parseAttribute(text, &state->context);
          if (!parsed)
            return failure();
          op.addAttribute(key, parsed);
        }
        if (hasSegments)
          op.addAttribute("operandSegmentSizes",
                          state->builder.getDenseI32ArrayAttr(segments));
        if (resultType)
          op.addTypes(
              state->tensorType(resultType->element, resultType->shape));
        else if (failed(inferTypes(op)))
          return failure();
        made = state->builder.create(op);
        return failure(failed(mlir::verify(made)) ||
                       failed(state->inferMultiples(made)));
      });
  if (!isRight) {
    if (made)
      made->erase();
    return none;
  }
  std::vector<Tensor> results;
  for (Value result : made->getResults())
    results.push_back(state->wrap(result));
  return results;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

#include "dsl/ops.cpp.inc"

} // namespace mantissa
