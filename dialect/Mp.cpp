//===- Mp.cpp - the dialect itself ----------------------------------------===//
#include "dialect/Fields.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "program/Limits.h"
#include "program/MpVersion.h"
#include "support/Spelling.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mp;

#include "dialect/MpDialect.cpp.inc"
#include "dialect/MpEnums.cpp.inc"

#include "dialect/MpAttrInterfaces.cpp.inc"
#include "dialect/MpInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/MpAttributes.cpp.inc"

namespace {
/// All ops may be inlined: their only state is variables, which symbols name.
struct MpInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

/// The version of the dialect in bytecode.
struct BytecodeVersion : mlir::DialectVersion {};

/// Writes the version into bytecode, and refuses bytecode of a newer one before
/// its ops are read.
struct MpBytecode : BytecodeDialectInterface {
  explicit MpBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}
  void writeVersion(DialectBytecodeWriter &writer) const final {
    writer.writeVarInt(MpVersion::ours().major);
    writer.writeVarInt(MpVersion::ours().minor);
  }
  std::unique_ptr<mlir::DialectVersion>
  readVersion(DialectBytecodeReader &reader) const final {
    uint64_t major, minor;
    if (failed(reader.readVarInt(major)) || failed(reader.readVarInt(minor)))
      return nullptr;
    MpVersion version{static_cast<unsigned>(major),
                      static_cast<unsigned>(minor)};
    if (version > MpVersion::ours()) {
      reader.emitError() << version.isNewer();
      return nullptr;
    }
    return std::make_unique<BytecodeVersion>();
  }
};
} // namespace

namespace mp {
#define MP_FAMILY(NAME) void register##NAME##Ops(MpDialect &dialect);
#include "dialect/Families.inc"
#undef MP_FAMILY
} // namespace mp

void MpDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/MpAttributes.cpp.inc"
      >();
#define MP_FAMILY(NAME) register##NAME##Ops(*this);
#include "dialect/Families.inc"
#undef MP_FAMILY
  addInterfaces<MpInliner, MpBytecode>();
}

/// The dialect's ops that are nearest to a name, as "'mp.gelu' or 'mp.relu'".
static std::string nearestOps(MLIRContext *context, StringRef name) {
  std::vector<std::string> known;
  for (RegisteredOperationName op : context->getRegisteredOperationsByDialect(
           MpDialect::getDialectNamespace()))
    known.push_back(op.stripDialect().str());
  name.consume_front("mp.");
  std::vector<std::string> nearest = nearestNames(name, known);
  llvm::erase_if(nearest, [&](StringRef other) {
    return name.edit_distance(other) > name.edit_distance(nearest.front());
  });
  std::string text;
  for (const std::string &near : nearest)
    text += (text.empty() ? "'mp." : " or 'mp.") + near + "'";
  return text;
}

static ParseResult parseUnknownOp(OpAsmParser &parser, OperationState &state) {
  StringRef name = state.name.getStringRef();
  std::string nearest = nearestOps(parser.getContext(), name);
  return parser.emitError(parser.getNameLoc())
         << "unknown op '" << name << "' in mp dialect "
         << MpVersion::ours().str()
         << (nearest.empty() ? ", docs/dialect.md lists those there are"
                             : ", did you mean " + nearest + "?");
}

std::optional<Dialect::ParseOpHook>
MpDialect::getParseOperationHook(StringRef) const {
  return ParseOpHook(parseUnknownOp);
}

bool mp::isGraphOp(Operation *op) {
  return isa_and_nonnull<MpDialect>(op->getDialect()) ||
         isa<ScalarOpInterface, ReductionOpInterface, DecomposableOpInterface,
             AnchorOpInterface>(op);
}

Operation *MpDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, type, elements);
}

static LogicalResult verifyWord(Operation *op, NamedAttribute attribute,
                                StringRef first, StringRef second) {
  auto word = dyn_cast<StringAttr>(attribute.getValue());
  if (word && (word.getValue() == first || word.getValue() == second))
    return success();
  return op->emitError() << "'" << attribute.getName().strref() << "' is "
                         << attribute.getValue() << ", expected \"" << first
                         << "\" or \"" << second << "\"";
}

/// Whether the attribute is a record of mp-instrument, of which codegen makes a
/// table.
static bool isRecord(Attribute attribute, int64_t number) {
  auto fields = dyn_cast<DictionaryAttr>(attribute);
  if (!fields || !fields.getAs<StringAttr>("op") ||
      !fields.getAs<StringAttr>("phase") ||
      !fields.getAs<LocationAttr>("source"))
    return false;
  auto type = fields.getAs<TypeAttr>("type");
  auto tensor =
      type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  auto operands = fields.getAs<DenseI64ArrayAttr>("operands");
  return tensor && tensor.hasStaticShape() && operands &&
         llvm::all_of(operands.asArrayRef(), [&](int64_t operand) {
           return operand >= 0 && operand < number;
         });
}

static LogicalResult verifyRecords(Operation *op, NamedAttribute attribute) {
  auto records = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!records)
    return op->emitError() << "'" << kRecordsAttr << "' is "
                           << attribute.getValue() << ", expected a list";
  for (auto [number, record] : llvm::enumerate(records))
    if (!isRecord(record, number))
      return op->emitError() << "'" << kRecordsAttr << "' has " << record
                             << ", expected op, source, phase, type and the "
                                "numbers of earlier records as operands";
  return success();
}

static LogicalResult verifyVersion(Operation *op, NamedAttribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  auto version = text ? MpVersion::parse(text) : std::nullopt;
  if (!version)
    return op->emitError() << "'" << kVersionAttr << "' is "
                           << attribute.getValue()
                           << ", expected a version such as \""
                           << MpVersion::ours().str() << "\"";
  if (*version > MpVersion::ours())
    return op->emitError() << version->isNewer();
  return success();
}

LogicalResult mp::verifySize(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  if (tensor.getRank() > kMostRank)
    return op->emitOpError() << "has a tensor of " << tensor.getRank()
                             << " dimensions, expected at most " << kMostRank;
  int64_t elements = 1;
  for (int64_t size : tensor.getShape()) {
    // An empty tensor has strides, too.
    int64_t counted =
        ShapedType::isDynamic(size) ? 1 : std::max<int64_t>(size, 1);
    if (counted > kMostElements / elements)
      return op->emitOpError() << "has a tensor of more than " << kMostElements
                               << " elements, " << tensor;
    elements *= counted;
  }
  if (tensor.getEncoding() && !isa<KernelOp, YieldOp, PartOp, AssembleOp>(op))
    return op->emitOpError() << "has a tensor with a layout, " << tensor
                             << ", which only kernels take and make";
  return success();
}

LogicalResult MpDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  if (attribute.getName() == kVersionAttr)
    return verifyVersion(op, attribute);
  if (attribute.getName() == kRecordsAttr)
    return verifyRecords(op, attribute);
  if (attribute.getName() == kModeAttr)
    return verifyWord(op, attribute, "train", "eval");
  if (attribute.getName() == kPhaseAttr)
    return verifyWord(op, attribute, "accumulate", "apply");
  for (StringRef name : {kNumberAttr, kRanksAttr, kShareAttr})
    if (attribute.getName() == name && !isa<IntegerAttr>(attribute.getValue()))
      return op->emitError() << "'" << name << "' is " << attribute.getValue()
                             << ", expected a whole number";
  if (attribute.getName() == kStorageAttr &&
      !isa<StorageAttr>(attribute.getValue()))
    return op->emitError() << "'" << kStorageAttr << "' is "
                           << attribute.getValue()
                           << ", expected #mp.storage<...>";
  if (attribute.getName() == kAutocastAttr) {
    if (!isa<AutocastOpInterface>(op))
      return op->emitError() << "'" << kAutocastAttr
                             << "' stands on an op that autocast leaves alone";
    return verifyWord(op, attribute, "f32", "low");
  }
  return success();
}

/// Checks attributes of arguments and results: names, and on results the
/// parameter of a gradient.
static LogicalResult verifyPlaceAttribute(Operation *op,
                                          NamedAttribute attribute) {
  if (attribute.getName() == kNameAttr &&
      !isa<StringAttr>(attribute.getValue()))
    return op->emitError() << "'" << kNameAttr << "' is "
                           << attribute.getValue() << ", expected a string";
  if (llvm::is_contained({kGradientAttr, kGradientRowsAttr},
                         attribute.getName()) &&
      !isa<FlatSymbolRefAttr>(attribute.getValue()))
    return op->emitError() << "'" << attribute.getName().strref() << "' is "
                           << attribute.getValue() << ", expected @parameter";
  return success();
}

/// Fails if an earlier place of the function has the name: it finds one only.
static LogicalResult
verifyNewName(Operation *op, StringRef what, unsigned index,
              NamedAttribute attribute,
              llvm::function_ref<Attribute(unsigned)> attributeOf) {
  auto name = dyn_cast<StringAttr>(attribute.getValue());
  if (attribute.getName() != kNameAttr || !name || name.empty())
    return success();
  for (unsigned i = 0; i < index; ++i)
    if (attributeOf(i) == name)
      return op->emitError() << what << "s " << i << " and " << index
                             << " have the same name, " << name;
  return success();
}

LogicalResult MpDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned index,
                                                  NamedAttribute attribute) {
  if (failed(verifyPlaceAttribute(op, attribute)))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyNewName(op, "argument", index, attribute, [&](unsigned i) {
    return function ? function.getArgAttr(i, kNameAttr) : Attribute();
  });
}

LogicalResult MpDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                     unsigned index,
                                                     NamedAttribute attribute) {
  if (failed(verifyPlaceAttribute(op, attribute)))
    return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyNewName(op, "result", index, attribute, [&](unsigned i) {
    return function ? function.getResultAttr(i, kNameAttr) : Attribute();
  });
}

LogicalResult mp::verifyAttributeNames(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name.contains('.') || name == SymbolTable::getVisibilityAttrName())
      continue;
    std::string known;
    for (StringAttr expected : op->getName().getAttributeNames())
      if (!expected.getValue().ends_with("SegmentSizes"))
        known += (known.empty() ? ", expected " : ", ") + expected.str();
    return op->emitOpError() << "unknown attribute '" << name << "'"
                             << (known.empty() ? ", expected none" : known);
  }
  return success();
}
