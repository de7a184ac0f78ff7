//===- Describe.cpp - variables, inputs and data of a module --------------===//
#include "codegen/plan/Describe.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Recipe.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"
#include "passes/Passes.h"
#include "passes/analysis/TimeSteps.h"
#include "program/Names.h"
#include "support/Permutation.h"
#include <cmath>

using namespace mlir;
using namespace mp;

//===----------------------------------------------------------------------===//
// Locations, types and kernels
//===----------------------------------------------------------------------===//

mp::Location mp::locate(mlir::Location location) {
  auto found = placeInSteps(location);
  if (!found)
    return {};
  return {found->place.getFilename().str(),
          found->place.getLine(),
          found->place.getColumn(),
          {found->timeSteps.begin(), found->timeSteps.end()}};
}

mp::TensorType mp::describeType(RankedTensorType type) {
  std::string name;
  llvm::raw_string_ostream(name) << type.getElementType();
  return {parseElementType(name).value_or(ElementType::F32),
          {type.getShape().begin(), type.getShape().end()}};
}

static void collectSources(mlir::Location location,
                           std::vector<mp::Location> &sources) {
  location->walk([&](mlir::Location inner) {
    // A source is the place of the op, and not that of its callers.
    if (auto call = dyn_cast<CallSiteLoc>(inner)) {
      collectSources(call.getCallee(), sources);
      return WalkResult::skip();
    }
    if (isa<FileLineColLoc>(inner))
      if (auto found = locate(inner); !llvm::is_contained(sources, found))
        sources.push_back(found);
    return WalkResult::advance();
  });
}

/// Locations of all ops that were fused, without repeats.
static std::vector<mp::Location> sourcesOf(mlir::Location location) {
  std::vector<mp::Location> sources;
  collectSources(location, sources);
  return sources;
}

std::string mp::summaryOf(Operation *op) {
  auto ops = op->getAttrOfType<StringAttr>("ops");
  return ops ? ops.getValue().str() : op->getName().stripDialect().str();
}

void mp::describeSources(Kernel &kernel, Operation *op) {
  kernel.sources = sourcesOf(op->getLoc());
  kernel.summary = summaryOf(op);
}

//===----------------------------------------------------------------------===//
// Initialisers (torch.nn.init)
//===----------------------------------------------------------------------===//

namespace {
/// The number of connections into and out of a unit, by the shape [out, in,
/// ...].
struct Fans {
  double in = 1, out = 1;
};
} // namespace

static Fans fansOf(ArrayRef<int64_t> shape) {
  if (shape.size() < 2)
    return {shape.empty() ? 1.0 : double(shape[0]),
            shape.empty() ? 1.0 : double(shape[0])};
  double field = llvm::product_of(shape.drop_front(2));
  return {shape[1] * field, shape[0] * field};
}

static Initializer resolve(InitAttr attr, ArrayRef<int64_t> shape) {
  using Kind = Initializer::Kind;
  auto argument = [&](StringRef name, double fallback) {
    auto value = attr.getArguments().getAs<FloatAttr>(name);
    return value ? value.getValueAsDouble() : fallback;
  };
  Fans fans = fansOf(shape);
  fans.in = argument("fan_in", fans.in);
  double slope = argument("a", std::sqrt(5.0)),
         gain = std::sqrt(2 / (1 + slope * slope));
  double kaiming = gain / std::sqrt(fans.in),
         xavier = argument("gain", 1) * std::sqrt(2 / (fans.in + fans.out));
  switch (attr.getFormula()) {
  case InitFormula::zeros:
    return {Kind::Constant, 0, 0};
  case InitFormula::ones:
    return {Kind::Constant, 1, 0};
  case InitFormula::constant:
    return {Kind::Constant, argument("value", 0), 0};
  case InitFormula::uniform: {
    bool byFan = bool(attr.getArguments().get("fan_in"));
    double bound = 1 / std::sqrt(fans.in);
    return {Kind::Uniform, argument("a", byFan ? -bound : 0),
            argument("b", byFan ? bound : 1)};
  }
  case InitFormula::normal:
    return {Kind::Normal, argument("mean", 0), argument("std", 1)};
  // A uniform distribution within sqrt(3) deviations has that deviation.
  case InitFormula::kaiming_uniform:
    return {Kind::Uniform, -std::sqrt(3.0) * kaiming, std::sqrt(3.0) * kaiming};
  case InitFormula::kaiming_normal:
    return {Kind::Normal, 0, kaiming};
  case InitFormula::xavier_uniform:
    return {Kind::Uniform, -std::sqrt(3.0) * xavier, std::sqrt(3.0) * xavier};
  case InitFormula::xavier_normal:
    return {Kind::Normal, 0, xavier};
  case InitFormula::seed:
    return {Kind::Seed, 0, 0};
  }
  llvm_unreachable("all formulas covered");
}

static VariableRole describeRole(RoleAttr role) {
  VariableRole result;
  result.kind = *parseRoleKind(stringifyStateRole(role.getRole()));
  if (role.getParameter())
    result.parameter = role.getParameter().getValue().str();
  if (role.getSlot())
    result.slot = role.getSlot().str();
  return result;
}

std::vector<Variable> mp::describeVariables(ModuleOp module) {
  std::vector<Variable> variables;
  for (auto op : module.getOps<VariableOp>()) {
    Variable variable;
    variable.name = op.getSymName().str();
    variable.kind = *parseVariableKind(stringifyStateKind(op.getKind()));
    variable.type = describeType(op.getTensorType());
    if (op.getPartOf())
      variable.whole = describeType(op.getWholeType());
    variable.init = op.getInit()
                        ? resolve(*op.getInit(), op.getWholeType().getShape())
                        : Initializer{Initializer::Kind::Derived, 0, 0};
    if (auto role = op.getRole())
      variable.role = describeRole(*role);
    if (auto dims = op.getDimsInFiles(); dims && !isIdentity(*dims))
      variable.dimsInFiles = dims->vec();
    variable.location = locate(op.getLoc());
    variables.push_back(std::move(variable));
  }
  return variables;
}

//===----------------------------------------------------------------------===//
// Inputs and data
//===----------------------------------------------------------------------===//

std::vector<DataSource> mp::describeData(ModuleOp module) {
  std::vector<DataSource> sources;
  for (auto op : module.getOps<DataOp>()) {
    DataSource source{op.getSymName().str(), {}, locate(op.getLoc())};
    for (NamedAttribute named : op.getColumns()) {
      auto column = cast<ColumnAttr>(named.getValue());
      std::string element;
      llvm::raw_string_ostream(element) << column.getElement();
      TokenWindow window;
      if (WindowAttr of = column.getWindow())
        window = {of.getTokens(), of.getStride(), of.getOffset(),
                  of.getStreams()};
      source.columns.push_back(
          {named.getName().str(), column.getPattern().str(),
           stringifyDataFormat(column.getFormat()).str(),
           column.getKey() ? column.getKey().str() : std::string(),
           parseElementType(element).value_or(ElementType::U8),
           locate(op.getLoc()), column.getDimsInFiles().vec(),
           column.getShape().vec(),
           column.getRecord() ? column.getRecord().getBytes() : 0,
           column.getRecord() ? column.getRecord().getOffset() : 0, window});
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

/// Whether the result has the elements of the operand, all of them.
static bool keepsIntegers(Operation *op) {
  return isa<ReshapeOp, TransposeOp, BroadcastOp>(op) ||
         (isa<CastOp>(op) && isa<IntegerType>(elementType(op->getResult(0))));
}

/// Returns the tightest range that ops require of a value, looking through
/// casts of integers and ops that move them.
static std::optional<IndexRange> rangeOf(Value value) {
  std::optional<IndexRange> range;
  for (OpOperand &use : value.getUses()) {
    std::optional<IndexRange> asked;
    if (auto op = dyn_cast<IndexOperandOpInterface>(use.getOwner()))
      asked = op.getIndexRange(use.getOperandNumber());
    else if (keepsIntegers(use.getOwner()))
      asked = rangeOf(use.getOwner()->getResult(0));
    if (asked && (!range || asked->high < range->high))
      range = asked;
  }
  return range;
}

std::vector<Input> mp::describeInputs(func::FuncOp function) {
  std::vector<Input> inputs;
  for (BlockArgument argument : function.getArguments()) {
    Input input;
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      kNameAttr);
    input.name = name ? name.getValue().str() : "";
    input.type = describeType(tensorType(argument));
    if (auto range = rangeOf(argument)) {
      input.range = {range->low, range->high};
      input.exempt = range->exempt;
    }
    input.location = locate(argument.getLoc());
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Input mp::describePosition(func::FuncOp function, int64_t tokens) {
  Input position;
  position.name = kPositionInput.str();
  auto context = function->getAttrOfType<IntegerAttr>(kContextAttr);
  if (int64_t length = context.getInt())
    position.range = {0, length - tokens + 1};
  return position;
}

// MLIR stores a splat once and flags as bits.
std::string mp::describeElements(DenseElementsAttr elements,
                                 const mp::TensorType &type) {
  std::string bytes;
  if (type.element == ElementType::I1) {
    for (bool flag : elements.getValues<bool>())
      bytes.push_back(flag);
    return bytes;
  }
  ArrayRef<char> raw = elements.getRawData();
  int64_t copies = elements.isSplat() ? type.elements() : 1;
  for (int64_t i = 0; i < copies; ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
}

void mp::describeRecords(Entry &entry, func::FuncOp function) {
  auto described = function->getAttrOfType<ArrayAttr>(kRecordsAttr);
  if (!described)
    return;
  for (auto fields : described.getAsRange<DictionaryAttr>()) {
    Record &record = entry.records.emplace_back();
    record.op = fields.getAs<StringAttr>("op").str();
    record.location = locate(fields.getAs<LocationAttr>("source"));
    record.phase = fields.getAs<StringAttr>("phase").str();
    record.type = describeType(
        cast<RankedTensorType>(fields.getAs<TypeAttr>("type").getValue()));
    llvm::append_range(
        record.operands,
        fields.getAs<DenseI64ArrayAttr>("operands").asArrayRef());
    record.meant = fields.contains("meant");
    record.watched = fields.contains("watched");
    record.guarded = fields.contains("guarded");
  }
  for (auto [index, result] : llvm::enumerate(entry.results)) {
    StringRef name = result.name;
    size_t number = 0;
    if (!name.consume_front("record.") || name.consumeInteger(10, number) ||
        !name.consume_front(".") || number >= entry.records.size())
      continue;
    if (auto fact = parseRecordFact(name))
      entry.records[number].results[static_cast<size_t>(*fact)] = index;
  }
}
