//===- State.cpp - variables and their reads and writes -------------------===//
#include "dialect/ops/State.h"
#include "dialect/ops/Kernel.h"
#include "support/Permutation.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mp;

/// The kind precedes the name, and is omitted for a parameter.
ParseResult mp::parseKindAndName(OpAsmParser &parser, StateKindAttr &kind,
                                 StringAttr &name) {
  StringRef keyword;
  SMLoc where = parser.getCurrentLocation();
  StateKind value = StateKind::parameter;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    auto known = symbolizeStateKind(keyword);
    if (!known)
      return parser.emitError(where) << "unknown kind of variable '" << keyword
                                     << "', expected parameter, buffer, slot, "
                                        "scaler, attempt, derived or window";
    value = *known;
  }
  kind = StateKindAttr::get(parser.getContext(), value);
  return parser.parseSymbolName(name);
}
void mp::printKindAndName(OpAsmPrinter &printer, VariableOp, StateKindAttr kind,
                          StringAttr name) {
  if (kind.getValue() != StateKind::parameter)
    printer << stringifyStateKind(kind.getValue()) << ' ';
  printer.printSymbolName(name);
}

//===----------------------------------------------------------------------===//
// variable, read, write
//===----------------------------------------------------------------------===//

/// The variable that one is derived from, which usually precedes it directly.
static VariableOp findSource(VariableOp derived) {
  constexpr unsigned near = 8;
  Operation *op = derived->getPrevNode();
  for (unsigned i = 0; op && i < near; ++i, op = op->getPrevNode())
    if (auto variable = dyn_cast<VariableOp>(op);
        variable && variable.getSymName() == *derived.getSource())
      return variable;
  return lookupVariable(derived, derived.getSourceAttr());
}

/// A slot names its parameter and its slot, and an average its parameter; other
/// roles have neither.
static LogicalResult verifyRole(VariableOp op, RoleAttr role) {
  bool isSlot = role.getRole() == StateRole::slot;
  bool needsParameter = isSlot || role.getRole() == StateRole::average;
  if (needsParameter != bool(role.getParameter()))
    return op.emitOpError()
           << "has role " << stringifyStateRole(role.getRole()) << ", which "
           << (needsParameter ? "names its parameter: of @w"
                              : "names no parameter");
  if (isSlot != bool(role.getSlot()))
    return op.emitOpError()
           << "has role " << stringifyStateRole(role.getRole()) << ", which "
           << (isSlot ? "names the slot: named \"exp_avg\""
                      : "has no name of its own");
  return success();
}

/// Checkpoints are safetensors files, whose header is JSON.
static LogicalResult verifyName(VariableOp op) {
  if (op.getSymName() == "__metadata__")
    return op.emitOpError() << "is called __metadata__, by which checkpoints "
                               "name what is not a tensor";
  if (!llvm::json::isUTF8(op.getSymName()))
    return op.emitOpError() << "has a name that is not UTF-8, which "
                               "checkpoints cannot hold";
  return success();
}

/// A constant that its type cannot hold would become an infinity, or another
/// integer, in silence.
static LogicalResult verifyConstant(VariableOp variable) {
  InitAttr init = *variable.getInit();
  auto value = init.getArguments().getAs<FloatAttr>("value");
  if (init.getFormula() != InitFormula::constant || !value)
    return success();
  Type element = variable.getTensorType().getElementType();
  APFloat number = value.getValue();
  bool isLost = false;
  if (auto type = dyn_cast<FloatType>(element)) {
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &isLost);
    isLost = number.isFinite() != value.getValue().isFinite();
  } else if (auto type = dyn_cast<IntegerType>(element)) {
    APSInt whole(type.getWidth(), type.isUnsigned() || type.getWidth() == 1);
    bool isExact = false;
    isLost = number.convertToInteger(whole, APFloat::rmTowardZero, &isExact) !=
             APFloat::opOK;
  }
  if (isLost)
    return variable.emitOpError() << "begins as " << value.getValueAsDouble()
                                  << ", which " << element << " cannot hold";
  return success();
}

static LogicalResult verifyDimsInFiles(VariableOp op, ArrayRef<int64_t> dims) {
  if (op.getKind() == StateKind::derived || op.getKind() == StateKind::window)
    return op.emitOpError()
           << "has dims_in_files, but a " << stringifyStateKind(op.getKind())
           << " variable is in no file";
  std::string why = whyNotPermutation(dims, op.getWholeType().getRank());
  if (why.empty())
    return success();
  return op.emitOpError() << "is " << op.getType()
                          << ", whose dimensions dims_in_files does not "
                             "permute: "
                          << dimsText(dims) << ' ' << why;
}

LogicalResult VariableOp::verify() {
  if (failed(verifyName(*this)) || failed(verifySize(*this, getTensorType())))
    return failure();
  if (!getTensorType().hasStaticShape())
    return emitOpError() << "a variable's shape is static, got " << getType();
  if (getPartOf() &&
      (getTensorType().getRank() != 1 ||
       getTensorType().getElementType() != getWholeType().getElementType()))
    return emitOpError() << "is part of " << getWholeType()
                         << ", and not a tensor of its elements in order: "
                         << getType();
  if (auto dims = getDimsInFiles();
      dims && failed(verifyDimsInFiles(*this, *dims)))
    return failure();
  if (getRole() && failed(verifyRole(*this, *getRole())))
    return failure();
  if (getKind() == StateKind::derived) {
    if (getInit())
      return emitOpError() << "a derived variable has no initialiser: it is "
                              "computed from its source";
    if (!getSource() && getTensorType().getRank() == 0)
      return success();
    if (!getSource())
      return emitOpError() << "a derived variable that is more than a number "
                              "names its source: from @variable";
    VariableOp source = findSource(*this);
    if (!source)
      return emitOpError() << "comes from @" << *getSource()
                           << ", which is not a variable";
    if (source.getKind() == StateKind::derived)
      return emitOpError() << "comes from @" << *getSource()
                           << ", which is derived itself";
    if (source.getWholeType().getShape() != getTensorType().getShape())
      return emitOpError() << "is " << getType() << " but its source is "
                           << source.getWholeType();
    return success();
  }
  if (getSource())
    return emitOpError() << "only a derived variable comes from another one";
  if (!getInit())
    return emitOpError()
           << "needs an initialiser, for example = #mp.init<zeros>";
  if (getInit()->getFormula() == InitFormula::seed &&
      !getTensorType().getElementType().isInteger(64))
    return emitOpError() << "is " << getType()
                         << " and starts as the seed, which is an i64";
  return verifyConstant(*this);
}

static LogicalResult verifyUse(Operation *op, FlatSymbolRefAttr name, Type type,
                               SymbolTableCollection &symbols) {
  if (op->getParentOfType<KernelOp>())
    return op->emitOpError()
           << "stands in a kernel, which takes values and knows no variables";
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError()
           << "names @" << name.getValue() << ", which is not a variable";
  if (variable.getType() != type) {
    auto diagnostic = op->emitOpError()
                      << "has type " << type << " but the variable is "
                      << variable.getType();
    diagnostic.attachNote(variable.getLoc())
        << "@" << name.getValue() << " is declared here";
    return diagnostic;
  }
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getType(), symbols);
}
LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getValue().getType(), symbols);
}

//===----------------------------------------------------------------------===//
// stop_gradient
//===----------------------------------------------------------------------===//

SmallVector<Value> StopGradientOp::buildScalars(ImplicitLocOpBuilder &,
                                                ValueRange x) {
  return {x[0]};
}
