//===- AutocastReport.cpp - autocast's decisions and reasons --------------===//
#include "passes/autocast/AutocastReport.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mp;

static void emitRemark(Operation *op, StringRef name, const std::string &text) {
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name(name).category("mp-autocast"))
      << text;
}

/// Returns "model.mlir:12:8", or "" if a location names no file.
static std::string placeOf(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return llvm::formatv("{0}:{1}:{2}", file.getFilename().getValue(),
                       file.getLine(), file.getColumn());
}

void AutocastReport::decide(Operation *op, Category category, FloatType type,
                            std::string why) {
  entries[op] = {category, type, std::move(why), {}};
}

void AutocastReport::addReason(Operation *op, StringRef why) {
  entries[op].why += (", " + why).str();
}

void AutocastReport::keepWide(OpOperand &constant, StringRef loss,
                              FloatType low) {
  Operation *op = constant.getOwner();
  std::string why = (loss + " in " + typeName(low)).str();
  addReason(op, "but " + why);
  Entry &entry = entries[op];
  std::string source = placeOf(constant.get().getLoc());
  entry.constant = {constant.getOperandNumber(), why, source};
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name("constant").category("mp-autocast"))
      << (op->getName().getStringRef() + ": stays f32 for operand " +
          Twine(constant.getOperandNumber()) +
          (source.empty() ? "" : ", the constant at " + source) + ": " +
          entry.why)
             .str();
}

void AutocastReport::cast(OpOperand &operand, FloatType type, bool isNew) {
  Operation *op = operand.getOwner();
  auto from = tensorType(operand.get());
  Cast cast{operand.getOperandNumber(), from.getElementType(), type, isNew, {}};
  if (from.hasStaticShape())
    cast.bytes = from.getNumElements() *
                 (from.getElementTypeBitWidth() + type.getWidth()) / 8;
  auto found = entries.find(op);
  std::string why =
      found == entries.end() ? "keeps its type" : found->second.why;
  emitRemark(op, "cast",
             (op->getName().getStringRef() + ": operand " +
              llvm::Twine(cast.operand) + " from " + typeName(cast.from) +
              " to " + typeName(type) + ": " + why)
                 .str());
  if (found != entries.end())
    found->second.casts.push_back(std::move(cast));
}

llvm::json::Value AutocastReport::json(func::FuncOp function,
                                       StringRef policy) const {
  llvm::json::Array ops;
  int64_t casts = 0, bytes = 0;
  bool isKnown = true;
  for (const auto &[op, entry] : entries) {
    llvm::json::Array list;
    for (const Cast &cast : entry.casts) {
      llvm::json::Object object{{"operand", cast.operand},
                                {"from", typeName(cast.from)},
                                {"to", typeName(cast.to)},
                                {"shared", !cast.isNew}};
      object["bytes"] = cast.bytes ? llvm::json::Value(*cast.bytes)
                                   : llvm::json::Value(nullptr);
      list.push_back(std::move(object));
      if (!cast.isNew)
        continue;
      ++casts;
      isKnown &= cast.bytes.has_value();
      bytes += cast.bytes.value_or(0);
    }
    llvm::json::Object object{{"op", op->getName().getStringRef()},
                              {"source", placeOf(op->getLoc())},
                              {"category", nameOf(entry.category)},
                              {"why", entry.why},
                              {"casts", std::move(list)}};
    if (entry.constant)
      object["constant"] =
          llvm::json::Object{{"operand", entry.constant->operand},
                             {"source", entry.constant->source},
                             {"why", entry.constant->why}};
    if (auto number = op->getAttrOfType<IntegerAttr>(kNumberAttr))
      object["number"] = number.getInt();
    object["runs_in"] = entry.type ? llvm::json::Value(typeName(entry.type))
                                   : llvm::json::Value(nullptr);
    ops.push_back(std::move(object));
  }
  llvm::json::Object object{{"function", function.getName().str()},
                            {"policy", policy.str()},
                            {"casts", casts},
                            {"ops", std::move(ops)}};
  object["cast_bytes"] =
      isKnown ? llvm::json::Value(bytes) : llvm::json::Value(nullptr);
  return object;
}
