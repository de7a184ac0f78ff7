//===- DescribeGraph.cpp - a recipe's graph as it was written -------------===//
#include "codegen/plan/DescribeGraph.h"
#include "codegen/plan/Describe.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "support/Json.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mp;

namespace {

class GraphDescription {
public:
  GraphDescription(TrainOp recipe, StringRef policy)
      : recipe(recipe), policy(policy) {
    if (policy.empty() && recipe.getAutocast())
      this->policy = recipe.getAutocast()->getPolicy().getValue();
  }
  std::vector<SourceOp> run();

private:
  void reach(Operation *op);
  void describePolicyFile();
  void describe(Operation *symbol);
  void describe(Operation *op, SourceOp &described);
  void number(ValueRange values);
  bool isLeftOut(Operation *op, NamedAttribute attribute) const;
  std::string text(Attribute value);

  TrainOp recipe;
  StringRef policy;
  /// What the recipe reaches, in the order in which it is found. Functions are
  /// known by their places here, so that a new name is no other graph.
  llvm::SetVector<Operation *> reached;
  DenseMap<Value, int64_t> numbers;
  std::vector<SourceOp> graph;
};

std::string toText(auto value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Returns the elements' bytes; nothing if they are few enough to be printed.
std::optional<StringRef> manyElements(Attribute value) {
  ArrayRef<char> bytes;
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    bytes = dense.getRawData();
  else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      bytes = blob->getData();
  constexpr size_t most = 64;
  if (bytes.size() <= most)
    return std::nullopt;
  return StringRef(bytes.data(), bytes.size());
}

/// Adds the functions that an op refers to.
void GraphDescription::reach(Operation *op) {
  auto module = recipe->getParentOfType<ModuleOp>();
  op->walk([&](Operation *inner) {
    for (NamedAttribute attribute : inner->getAttrs())
      attribute.getValue().walk([&](FlatSymbolRefAttr symbol) {
        Operation *found = module.lookupSymbol(symbol.getAttr());
        if (isa_and_nonnull<func::FuncOp>(found))
          reached.insert(found);
      });
  });
}

/// Describes a policy's file by its fields. One that cannot be read is an error
/// of the passes.
void GraphDescription::describePolicyFile() {
  auto buffer = llvm::MemoryBuffer::getFile(policy);
  if (!buffer)
    return;
  auto parsed = parseJson((*buffer)->getBuffer());
  const llvm::json::Object *fields = parsed ? parsed->getAsObject() : nullptr;
  if (!parsed)
    consumeError(parsed.takeError());
  if (!fields)
    return;
  SourceOp &described = graph.emplace_back();
  described.name = ("policy " + policy).str();
  for (auto &[key, value] : *fields)
    described.attributes.emplace_back(key.str(),
                                      llvm::formatv("{0}", value).str());
  llvm::sort(described.attributes);
}

std::vector<SourceOp> GraphDescription::run() {
  reached.insert(recipe);
  auto module = recipe->getParentOfType<ModuleOp>();
  if (StringRef name = policy; name.consume_front("@")) {
    if (auto own = module.lookupSymbol<PolicyOp>(name))
      reached.insert(own);
  } else if (policy.ends_with(".json")) {
    describePolicyFile();
  }
  // The list grows while it is read.
  for (size_t i = 0; i < reached.size(); ++i)
    reach(reached[i]);
  for (Operation *symbol : reached)
    describe(symbol);
  return std::move(graph);
}

void GraphDescription::number(ValueRange values) {
  for (Value value : values)
    numbers.try_emplace(value, numbers.size());
}

void GraphDescription::describe(Operation *symbol) {
  symbol->walk<WalkOrder::PreOrder>([&](Operation *op) {
    describe(op, graph.emplace_back());
    number(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        number(block.getArguments());
  });
}

/// Whether the attribute does not belong to what is computed: a name, the loss
/// scaler, which is compared by its state and fields, or what is kept for
/// backward.
bool GraphDescription::isLeftOut(Operation *op,
                                 NamedAttribute attribute) const {
  StringRef name = attribute.getName();
  if (auto train = dyn_cast<TrainOp>(op))
    return name == train.getEntryAttrName() ||
           name == train.getScalerAttrName() ||
           name == train.getRecomputeAttrName();
  return isa<func::FuncOp>(op) &&
         (name == SymbolTable::getSymbolAttrName() ||
          name == SymbolTable::getVisibilityAttrName());
}

std::string GraphDescription::text(Attribute value) {
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(value)) {
    auto module = recipe->getParentOfType<ModuleOp>();
    Operation *found = module.lookupSymbol(symbol.getAttr());
    if (isa_and_nonnull<func::FuncOp>(found))
      return llvm::formatv("function {0}",
                           llvm::find(reached, found) - reached.begin());
  }
  if (auto bytes = manyElements(value))
    return llvm::formatv("{0} elements, {1:x-16}",
                         cast<ElementsAttr>(value).getType(),
                         llvm::xxh3_64bits(*bytes));
  return toText(value);
}

void GraphDescription::describe(Operation *op, SourceOp &described) {
  described.name = op->getName().getStringRef().str();
  described.location = locate(op->getLoc());
  llvm::raw_string_ostream type(described.type);
  type << '(';
  llvm::interleaveComma(op->getOperandTypes(), type);
  type << ") -> (";
  llvm::interleaveComma(op->getResultTypes(), type);
  type << ')';
  for (Value operand : op->getOperands())
    described.operands.push_back(numbers.lookup(operand));
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (!isLeftOut(op, attribute))
      described.attributes.emplace_back(attribute.getName().str(),
                                        text(attribute.getValue()));
}

} // namespace

std::vector<SourceOp> mp::describeGraph(TrainOp recipe, StringRef policy) {
  return GraphDescription(recipe, policy).run();
}
