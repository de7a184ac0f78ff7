//===- GroupValues.cpp - where a group's values come from -----------------===//
//
// Values come from memory, from a stage's body, or are kept.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/nest/GroupNest.h"
#include "dialect/Mp.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;
using llvm::Twine;

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

GroupNest::Depth GroupNest::depthOf(Space space) const {
  switch (group.role(space)) {
  case Role::Global:
    return Top;
  case Role::Outer:
    return group.schedule == LoopSchedule::Flat ? Lane : Line;
  case Role::Inner:
  case Role::Full:
    return Lane;
  }
  llvm_unreachable("all roles handled");
}

/// Returns the number of an element in memory, or of the first of several.
std::string GroupNest::index(Space space) const {
  switch (space) {
  case Space::Scalar:
    return "0";
  case Space::Row:
    return "row";
  case Space::Column:
    return shape.onePass ? "at" : "column";
  case Space::Full:
    return "at";
  }
  llvm_unreachable("all spaces handled");
}

/// The same for a tensor, which may be a part of another one.
std::string GroupNest::place(Value tensor) const {
  Space space = group.spaces.lookup(tensor);
  RowsAttr rows = RowsAttr::of(tensor.getType());
  if (!rows)
    return index(space);
  return "row * " + std::to_string(rows.getStride()) + " + " +
         index(Space::Column);
}

/// Returns the number of elements that are handled at once; it is lower at the
/// end of a line.
std::string GroupNest::vectorWidth() const {
  return shape.onePass ? "n" : std::to_string(shape.width);
}

/// If a thread's elements are the first ones of a multiple of their number,
/// this is an "or", from which a compiler sees their common part: the quotient
/// by four that random words come from.
std::string GroupNest::columnOfLane() const {
  return index(Space::Column) + (!isWide()       ? ""
                                 : shape.onePass ? " | j"
                                                 : " + j");
}

SmallVector<std::string> GroupNest::loopIndices(Space domain) const {
  switch (domain) {
  case Space::Scalar:
    return {};
  case Space::Row:
    return {"row"};
  case Space::Column:
    return {columnOfLane()};
  case Space::Full:
    return {"row", columnOfLane()};
  }
  llvm_unreachable("all spaces handled");
}

std::string GroupNest::lane(const std::string &array) const {
  return isWide() ? array + "[j]" : array;
}

/// Returns the number of the current step of a thread.
std::string GroupNest::slot() const { return shape.steps > 1 ? "k" : "0"; }

/// The value of `tensor` at this point of the nest.
std::string GroupNest::value(Value tensor) {
  if (TypedAttr attr = constantOf(tensor))
    return printConstant(attr);
  Space space = group.spaces.lookup(tensor);
  Depth depth = depthOf(space);
  if (auto known = scopes[depth].values.find(tensor);
      known != scopes[depth].values.end())
    return known->second;
  const Stage *stage = group.producer(tensor);
  if (stage && stage->buffered && stage->level < level)
    scopes[depth].values[tensor] = buffered(tensor);
  else if (stage)
    compute(*stage, depth);
  else
    scopes[depth].values[tensor] = load(tensor, space, depth);
  return scopes[depth].values.lookup(tensor);
}

/// An expression of the row, which is not negative.
static std::string printRow(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return "row";
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  const char *sign = expr.getKind() == AffineExprKind::Add   ? " + "
                     : expr.getKind() == AffineExprKind::Mul ? " * "
                     : expr.getKind() == AffineExprKind::Mod ? " % "
                                                             : " / ";
  return "(" + printRow(binary.getLHS()) + sign + printRow(binary.getRHS()) +
         ")";
}

std::string GroupNest::load(Value tensor, Space space, Depth depth) {
  std::string type = storageType(elementOf(tensor));
  std::string from = kernel.memory(tensor), at = place(tensor);
  if (AffineExpr row = group.repeatedRows.lookup(tensor)) {
    at = printRow(row);
    if (space == Space::Full)
      at +=
          " * " + std::to_string(group.columns) + " + " + index(Space::Column);
  }
  std::string width = vectorWidth();
  bool hasLanes =
      depth == Lane && (space == Space::Column || space == Space::Full);
  std::string one = from + ".load(" + at + ")";
  std::string loaded = hasLanes && isWide() ? "loadItems<" + width + ">(" +
                                                  from + ", " + at + ")"
                                            : one;
  std::string result;
  if (hasLanes && shape.kept.contains(tensor)) {
    std::string &name = keptNames[tensor];
    if (name.empty()) {
      name = kernel.names.fresh("x");
      scopes[Line].text.line(
          (isWide() ? "Items<" + type + ", " + width + "> " : type + " ") +
          name + "[" + Twine(shape.steps) + "];");
      loads.line(name + "[" + slot() + "] = " + loaded + ";");
    }
    result = lane(name + "[" + slot() + "]");
  } else {
    std::string name = kernel.names.fresh("x");
    SourceText &to = depth == Lane ? loads : scopes[depth].text;
    bool mayBeOutside =
        depth == Line && group.schedule == LoopSchedule::Columns;
    if (mayBeOutside)
      loaded = "inside ? " + one + " : zero<" + type + ">()";
    to.line("const " + (hasLanes && isWide() ? "auto" : type) + " " + name +
            " = " + loaded + ";");
    result = hasLanes ? lane(name) : name;
  }
  return elementOf(tensor).isInteger(1) ? "(" + result + " != 0)" : result;
}

/// Returns a place for the value of a costly stage, from pass to pass.
std::string GroupNest::buffered(Value tensor) {
  std::string type = valueType(elementOf(tensor));
  std::string &name = buffers[tensor];
  if (name.empty()) {
    name = kernel.names.fresh("b");
    std::string columns = std::to_string(group.columns);
    if (shape.unrolled) {
      scopes[Line].text.line(
          type + " " + name + "[" + Twine(shape.steps) + "]" +
          (isWide() ? "[" + Twine(shape.width) + "]" : "") + ";");
    } else {
      std::string address = kernel.shared(shape.down * group.columns *
                                          storageBytes(elementOf(tensor)));
      scopes[Top].text.line(
          type + " *" + name + " = reinterpret_cast<" + type + " *>(" +
          address + ")" +
          (shape.down > 1 ? " + group * " + columns : std::string()) + ";");
    }
  }
  return shape.unrolled ? lane(name + "[" + slot() + "]")
                        : name + "[" + columnOfLane() + "]";
}

SmallVector<std::string> GroupNest::arguments(const Stage &stage) {
  linalg::GenericOp op = stage.op;
  SmallVector<std::string> arguments(op.getBody()->getNumArguments());
  for (OpOperand *read : readsOf(op))
    arguments[op.getMatchingBlockArgument(read).getArgNumber()] =
        value(read->get());
  return arguments;
}

void GroupNest::compute(const Stage &stage, Depth depth) {
  ScalarPrinter &body = depth == Lane   ? laneBody
                        : depth == Line ? lineBody
                                        : topBody;
  FailureOr<SmallVector<std::string>> results =
      body.print(stage.op, arguments(stage), loopIndices(stage.domain));
  failed |= llvm::failed(results);
  for (auto [i, tensor] : llvm::enumerate(stage.op->getResults()))
    scopes[depth].values[tensor] =
        llvm::failed(results) ? std::string() : (*results)[i];
}

/// Returns the value that a reduction adds at this point.
std::string GroupNest::element(const Stage &stage, const Reduction &reduction,
                               Depth depth) {
  ScalarPrinter &body = depth == Lane ? laneBody : lineBody;
  FailureOr<SmallVector<std::string>> results = body.print(
      stage.op, arguments(stage), reduction.element, loopIndices(stage.domain));
  failed |= llvm::failed(results);
  return llvm::failed(results) ? std::string() : results->front();
}

void GroupNest::storeLane(Value tensor, const std::string &at,
                          const std::string &computed) {
  std::string type = storageType(elementOf(tensor));
  std::string to = kernel.memory(tensor);
  if (!isWide()) {
    stores.line(to + ".store(" + at + ", " + computed + ");");
    return;
  }
  std::string name = kernel.names.fresh("y");
  loads.line("Items<" + type + ", " + vectorWidth() + "> " + name + ";");
  scopes[Lane].text.line(name + "[j] = " + computed + ";");
  stores.line("storeItems(" + to + ", " + at + ", " + name + ");");
}
