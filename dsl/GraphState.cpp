//===- GraphState.cpp - the module behind a graph -------------------------===//
#include "dsl/GraphState.h"
#include "dialect/Dialects.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/State.h"
#include "support/Permutation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace mantissa {

static std::string join(ElementType element, const Dims &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (size == Batch ? "?" : std::to_string(size)) + "x";
  return text + mp::elementTypeName(element).str();
}

std::string quoted(StringRef text) {
  std::string result = "\"";
  llvm::raw_string_ostream os(result);
  llvm::printEscapedString(text, os);
  os << '"';
  return result;
}

std::string typeText(ElementType element, const Dims &shape) {
  return join(element, shape);
}

ElementType elementOf(Type type) {
  if (type.isInteger(1))
    return I1;
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return mp::parseElementType(name).value_or(F32);
}

std::string typeText(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return join(elementOf(tensor.getElementType()), tensor.getShape().vec());
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

ElementType Tensor::element() const {
  return value ? elementOf(cast<RankedTensorType>(
                               GraphState::valueOf(*this).getType())
                               .getElementType())
               : F32;
}

const Dims &Tensor::shape() const {
  static const Dims none;
  if (!value)
    return none;
  Dims &shape = graph->shapes[value];
  shape = cast<RankedTensorType>(GraphState::valueOf(*this).getType())
              .getShape()
              .vec();
  return shape;
}

int64_t Tensor::size(int64_t dim) const {
  const Dims &sizes = shape();
  int64_t place = dim < 0 ? dim + sizes.size() : dim;
  return place >= 0 && place < int64_t(sizes.size()) ? sizes[place] : 0;
}

std::string Tensor::type() const {
  return value ? typeText(GraphState::valueOf(*this).getType()) : "no tensor";
}

Tensor Tensor::named(const std::string &name) const {
  if (value)
    GraphState::setName(GraphState::valueOf(*this), graph->scope + name);
  return *this;
}

void GraphState::setName(Value value, StringRef name) {
  Location place = value.getLoc();
  if (auto earlier = dyn_cast<NameLoc>(place))
    place = earlier.getChildLoc();
  value.setLoc(NameLoc::get(StringAttr::get(value.getContext(), name), place));
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

GraphState::GraphState(Graph &graph, const std::string &name, Place place)
    : graph(graph), context(MLIRContext::Threading::DISABLED),
      builder(&context) {
  DialectRegistry registry;
  mp::registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  // A mistake is told with the types of its operands; an op in MLIR's generic
  // form would repeat it at greater length.
  context.printOpOnDiagnostic(false);
  module = name.empty() ? ModuleOp::create(locate(place))
                        : ModuleOp::create(locate(place), name);
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, locate(place), "loss",
                                  builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
}

Location GraphState::locate(Place place) {
  return FileLineColLoc::get(&context, place.file_name(), place.line(),
                             place.column());
}

Type GraphState::elementType(ElementType element) {
  switch (element) {
  case ElementType::I1:
    return builder.getI1Type();
  case ElementType::I8:
    return builder.getI8Type();
  case ElementType::U8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case ElementType::I16:
    return builder.getI16Type();
  case ElementType::U16:
    return builder.getIntegerType(16, /*isSigned=*/false);
  case ElementType::I32:
    return builder.getI32Type();
  case ElementType::U32:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case ElementType::I64:
    return builder.getI64Type();
  case ElementType::F8E4M3FN:
    return Float8E4M3FNType::get(&context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(&context);
  case ElementType::F16:
    return builder.getF16Type();
  case ElementType::BF16:
    return builder.getBF16Type();
  case ElementType::F32:
    return builder.getF32Type();
  case ElementType::F64:
    return builder.getF64Type();
  }
  llvm_unreachable("all element types covered");
}

RankedTensorType GraphState::tensorType(ElementType element,
                                        const Dims &shape) {
  return RankedTensorType::get(shape, elementType(element));
}

LogicalResult GraphState::inferMultiples(Operation *op) {
  auto multipleOf = [&](Value value) -> std::optional<mp::BatchMultiple> {
    if (!mp::hasBatch(value.getType()))
      return std::nullopt;
    if (auto found = multiples.find(value); found != multiples.end())
      return found->second;
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner()->getParentOp() == function)
      return mp::BatchMultiple();
    return std::nullopt;
  };
  auto found = mp::inferBatchMultiples(op, multipleOf);
  if (failed(found))
    return failure();
  for (auto [result, multiple] : llvm::zip_equal(op->getResults(), *found))
    if (multiple)
      multiples[result] = *multiple;
  return success();
}

Tensor GraphState::wrap(Value value) {
  return Tensor(this, value.getAsOpaquePointer());
}

Tensor GraphState::mistake(const Twine &message, Place place,
                           const Twine &details) {
  std::string text = (Twine(place.file_name()) + ":" + Twine(place.line()) +
                      ":" + Twine(place.column()) + ": error: " + message)
                         .str();
  if (std::string more = details.str(); !more.empty())
    text += "\n  " + more;
  mistakes.push_back(std::move(text));
  return none();
}

bool GraphState::attempt(Place place, const Twine &details,
                         function_ref<LogicalResult()> work) {
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      said += (said.empty() ? "" : "\n  ") + diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes())
      // MLIR's note has the op as text, which the user's program has not.
      if (std::string text = note.str();
          !StringRef(text).starts_with("see current operation"))
        said += "\n  note: " + text;
    return success();
  });
  if (succeeded(work()))
    return true;
  mistake(said.empty() ? "the op cannot be made" : said, place, details);
  return false;
}

bool GraphState::accept(const Tensor &tensor, Place place) {
  if (tensor.graph && tensor.graph != this)
    return bool(mistake(
        "the tensor of " + tensor.type() + " belongs to another graph", place));
  if (!tensor) {
    // After a mistake nothing more is said, but a tensor that never was one.
    if (!tensor.graph)
      mistake("the tensor is empty: no op returned it; an op on numbers alone "
              "returns none, constant does",
              place);
    return false;
  }
  Region *region = valueOf(tensor).getParentRegion(),
         *here = builder.getInsertionBlock()->getParent();
  if (region->isAncestor(here))
    return true;
  bool isSameFunction = region->getParentOfType<func::FuncOp>() ==
                        here->getParentOfType<func::FuncOp>();
  return bool(mistake("the tensor of " + tensor.type() +
                          (isSameFunction
                               ? " is a value of one time step: carry it, or "
                                 "stack it"
                               : " is a value of another function: pass it as "
                                 "an argument"),
                      place));
}

Tensor GraphState::constant(double value, Type element, Place place) {
  if (!holds(element, value, place))
    return none();
  auto type = RankedTensorType::get({}, element);
  return wrap(mp::ConstantOp::create(builder, locate(place), type, value));
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// Returns what is wrong in a variable's numbers, or "".
static std::string mistakeInVariable(const Dims &shape, const Dims &dims) {
  if (!shape.empty() && shape.front() == Batch)
    return "a size that is not known: sizes of variables are numbers";
  std::string why = mp::whyNotPermutation(dims, shape.size());
  return dims.empty() || why.empty()
             ? ""
             : "dimsInFiles that do not permute its dimensions: " +
                   mp::dimsText(dims) + " " + why;
}

Tensor GraphState::variable(StringRef kind, const std::string &given,
                            ElementType element, const Dims &shape,
                            const Initializer &init,
                            const VariableOptions &options, Place place) {
  std::string name = scope + given;
  if (!open.empty())
    return mistake("variable '" + name +
                       "' is read in the body of a function, "
                       "whose calls would all share it: pass its value as an "
                       "argument",
                   place);
  if (given.empty())
    return mistake("a variable needs a name", place);
  if (!acceptType("variable '" + name + "'", element, shape, place))
    return none();
  const Dims &dims = options.dimsInFiles;
  if (std::string what = mistakeInVariable(shape, dims); !what.empty())
    return mistake("variable '" + name + "' of " + typeText(element, shape) +
                       " has " + what,
                   place);
  auto type = tensorType(element, shape);
  if (auto known = variables.find(name); known != variables.end()) {
    if (valueOf(known->second).getType() != type)
      return mistake("variable '" + name + "' is " + typeText(element, shape) +
                         " here and " + known->second.type() + " before",
                     place);
    if (dimsInFiles[name] != dims)
      return mistake("variable '" + name + "' has dimsInFiles " +
                         mp::dimsText(dims) + " here and " +
                         mp::dimsText(dimsInFiles[name]) + " before",
                     place);
    return known->second;
  }
  if (!declare("a variable", name, place))
    return none();
  std::string text = "mp.variable " + (kind.empty() ? "" : kind.str() + " ") +
                     "@" + quoted(name) + " : tensor<" +
                     typeText(element, shape) + ">";
  if (!dims.empty())
    text += " dims_in_files" + mp::dimsText(dims);
  text += " = " + init.text;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  size_t before = mistakes.size();
  addText(text, place);
  if (mistakes.size() != before)
    return none();
  // Reads stand where they are used, as an example's writer would have them.
  builder.restoreInsertionPoint(OpBuilder::InsertPoint(
      &function.getBody().front(), function.getBody().front().end()));
  Value value = mp::ReadOp::create(builder, locate(place), type, name);
  setName(value, name);
  Tensor read = wrap(value);
  variables[name] = read;
  dimsInFiles[name] = dims;
  return read;
}

} // namespace mantissa
