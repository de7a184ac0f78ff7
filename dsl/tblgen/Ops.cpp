//===- Ops.cpp - a function for each op of a graph ------------------------===//
#include "Generate.h"
#include "mlir/TableGen/Operator.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;
using mlir::tblgen::NamedAttribute;
using mlir::tblgen::NamedTypeConstraint;
using mlir::tblgen::Operator;

namespace mp {
namespace {

/// How an attribute is given in C++.
struct AttributeKind {
  std::string type;    ///< "int64_t"; "" if users cannot give it
  std::string initial; ///< C++ of its default; "" if it has to be given
  const Record *enumeration = nullptr;
  bool isOptional = false;
};

/// "::mp::LossReduction::mean" without its first part.
StringRef withoutNamespace(StringRef name) {
  name.consume_front("::");
  name.consume_front("mp::");
  return name;
}

AttributeKind kindOf(const mlir::tblgen::Attribute &attribute) {
  AttributeKind kind;
  mlir::tblgen::Attribute base = attribute.getBaseAttr();
  const Record &record = base.getDef();
  StringRef name = base.getAttrDefName();
  if (name == "I64Attr")
    kind.type = "int64_t";
  else if (name == "F64Attr")
    kind.type = "double";
  else if (name == "UnitAttr" || name == "BoolAttr")
    kind.type = "bool";
  else if (name == "StrAttr")
    kind.type = "std::string";
  else if (name == "DenseI64ArrayAttr")
    kind.type = "Dims";
  else if (record.isSubClassOf("TypeAttrBase"))
    kind.type = "ElementType";
  else if (record.isSubClassOf("EnumAttr")) {
    kind.enumeration = &record;
    kind.type = record.getValueAsDef("enum")->getValueAsString("className");
  } else
    return kind;
  kind.isOptional = attribute.isOptional() && name != "UnitAttr";
  if (name == "UnitAttr")
    kind.initial = "false";
  else if (kind.isOptional)
    kind.initial = "std::nullopt";
  else if (attribute.hasDefaultValue())
    kind.initial = withoutNamespace(attribute.getDefaultValue()).str();
  return kind;
}

/// The text that MLIR reads as an enumeration's attribute, with $case for the
/// name of a case.
std::string enumText(const Record &enumeration) {
  std::string format = enumeration.getValueAsString("assemblyFormat").str(),
              text =
                  "#mp<" + enumeration.getValueAsString("mnemonic").str() + " ";
  for (StringRef rest = format; !rest.empty();) {
    if (rest.consume_front("$value"))
      text += "$case";
    else if (rest.front() != '`' && rest.front() != ' ')
      text += rest.front(), rest = rest.drop_front();
    else
      rest = rest.drop_front();
  }
  return text + ">";
}

/// Counts on the device, which passes give to random ops.
bool isInternal(const NamedTypeConstraint &operand) {
  return operand.constraint.getDefName().contains("Mp_Count") ||
         (operand.isVariadic() && operand.name == "key");
}

/// A function of the DSL: an op and how it is called.
class Function {
public:
  explicit Function(const Record &record) : op(record) {
    for (int i = 0; i < op.getNumOperands(); ++i)
      if (!isInternal(op.getOperand(i)))
        (op.getOperand(i).isOptional() ? optional : required).push_back(i);
    for (const NamedAttribute &attribute : op.getAttributes())
      kinds[attribute.name] = kindOf(attribute.attr);
    mnemonic = StringRef(op.getOperationName()).split('.').second.str();
  }

  /// Whether a graph that a user writes may hold the op.
  bool isForUsers() const {
    if (op.getNumResults() == 0 || op.getNumRegions() ||
        StringRef(mnemonic).ends_with("_backward") ||
        !(op.getTrait("::mp::DifferentiableOpInterface::Trait") ||
          op.getTrait("::mlir::OpTrait::AlwaysSpeculatableImplTrait")))
      return false;
    const Record &record = op.getDef();
    if (record.getValue("notDifferentiable") &&
        record.getValueAsString("notDifferentiable") ==
            "it is the end of a step")
      return false;
    return all_of(op.getAttributes(), [&](const NamedAttribute &attribute) {
      return !kinds.at(attribute.name).type.empty() ||
             attribute.attr.isOptional();
    });
  }

  bool infers() const {
    return op.getTrait("::mlir::InferTypeOpInterface::Trait");
  }

  void declare(raw_ostream &os) const {
    declareOptions(os);
    declareResults(os);
    comment(os, op.getSummary());
    comment(os, "");
    comment(os, op.getDescription());
    os << signature(/*withDefaults=*/true) << ";\n\n";
  }
  void define(raw_ostream &os) const;

  void enumerations(std::map<std::string, const Record *> &found) const {
    for (auto &[name, kind] : kinds)
      if (kind.enumeration)
        found[kind.type] = kind.enumeration;
  }

private:
  bool hasOptions() const {
    return !optional.empty() ||
           any_of(kinds, [](auto &named) { return isOption(named.second); });
  }
  static bool isOption(const AttributeKind &kind) {
    return !kind.type.empty() && !kind.initial.empty();
  }
  static bool isPositional(const AttributeKind &kind) {
    return !kind.type.empty() && kind.initial.empty();
  }
  std::string optionsName() const { return typeName(mnemonic) + "Options"; }
  /// The op has as many results as operands of a list, which are its last.
  bool hasManyResults() const {
    return op.getNumResults() == 1 && op.getResult(0).isVariadic();
  }
  std::string resultsName() const {
    return hasManyResults()         ? "std::vector<Tensor>"
           : op.getNumResults() > 1 ? typeName(mnemonic) + "Results"
                                    : "Tensor";
  }
  /// C++ of the number of results.
  std::string resultsCount() const {
    return hasManyResults()
               ? field(op.getOperand(required.back()).name) + ".tensors.size()"
               : std::to_string(op.getNumResults());
  }
  std::string field(StringRef name) const {
    return convertToCamelFromSnakeCase(name);
  }

  void declareOptions(raw_ostream &os) const {
    if (!hasOptions())
      return;
    os << "/// Options of " << functionName(mnemonic) << ".\nstruct "
       << optionsName() << " {\n";
    for (int place : optional)
      os << "  Tensor " << field(op.getOperand(place).name) << " = {};\n";
    for (const NamedAttribute &attribute : op.getAttributes()) {
      const AttributeKind &kind = kinds.at(attribute.name);
      if (!isOption(kind))
        continue;
      std::string type =
          kind.isOptional ? "std::optional<" + kind.type + ">" : kind.type;
      os << "  " << type << " " << field(attribute.name) << " = "
         << kind.initial << ";\n";
    }
    os << "};\n";
  }

  void declareResults(raw_ostream &os) const {
    if (op.getNumResults() == 1)
      return;
    os << "/// The results of " << functionName(mnemonic)
       << "; used as a tensor, the first of them.\nstruct " << resultsName()
       << " : Tensor {\n";
    for (int i = 1; i < op.getNumResults(); ++i)
      os << "  Tensor " << field(op.getResultName(i)) << ";\n";
    os << "};\n";
  }

  std::string signature(bool withDefaults) const {
    SmallVector<std::string> parameters;
    if (required.empty())
      parameters.push_back("const Context &context");
    for (int place : required)
      parameters.push_back((op.getOperand(place).isVariadic()
                                ? "const Operands &"
                                : "const Operand &") +
                           field(op.getOperand(place).name));
    if (!infers())
      parameters.push_back("const ResultType &type");
    for (const NamedAttribute &attribute : op.getAttributes())
      if (const auto &kind = kinds.at(attribute.name); isPositional(kind))
        parameters.push_back("const " + kind.type + " &" +
                             field(attribute.name));
    if (hasOptions())
      parameters.push_back("const " + optionsName() + " &options" +
                           (withDefaults ? " = {}" : ""));
    return resultsName() + " " + functionName(mnemonic) + "(" +
           join(parameters, ", ") + ")";
  }

  Operator op;
  std::string mnemonic;
  SmallVector<int> required, optional; ///< places of operands
  std::map<StringRef, AttributeKind> kinds;
};

void Function::define(raw_ostream &os) const {
  os << signature(/*withDefaults=*/false) << " {\n  OpCall call(\"mp."
     << mnemonic << "\", " << resultsCount() << ", "
     << (op.getTrait("::mlir::OpTrait::AttrSizedOperandSegments") ? "true"
                                                                  : "false")
     << ");\n";
  if (required.empty())
    os << "  call.in(context);\n";
  for (int i = 0; i < op.getNumOperands(); ++i) {
    const NamedTypeConstraint &operand = op.getOperand(i);
    if (isInternal(operand))
      os << "  call.operand();\n";
    else
      os << "  call.operand(" << (operand.isOptional() ? "options." : "")
         << field(operand.name) << ");\n";
  }
  if (!infers())
    os << "  call.result(type);\n";
  for (const NamedAttribute &attribute : op.getAttributes()) {
    const AttributeKind &kind = kinds.at(attribute.name);
    if (kind.type.empty())
      continue;
    std::string value =
        (isOption(kind) ? "options." : "") + field(attribute.name);
    if (kind.enumeration)
      value = "textOf(" + value + ")";
    os << "  call.attribute(\"" << attribute.name << "\", " << value << ");\n";
  }
  os << "  auto results = call.emit();\n";
  if (op.getNumResults() == 1) {
    os << "  return results" << (hasManyResults() ? "" : "[0]") << ";\n}\n\n";
    return;
  }
  os << "  return {";
  for (int i = 0; i < op.getNumResults(); ++i)
    os << (i ? ", " : "") << "{results[" << i << "]}";
  os << "};\n}\n\n";
}

void declareEnum(raw_ostream &os, StringRef name, const Record &enumeration) {
  const Record *type = enumeration.getValueAsDef("enum");
  comment(os, type->getValueAsString("summary"));
  os << "enum class " << name << " {";
  for (const Record *one : type->getValueAsListOfDefs("enumerants"))
    os << " " << one->getValueAsString("symbol") << ",";
  os << " };\n\n";
}

void defineEnum(raw_ostream &os, StringRef name, const Record &enumeration) {
  os << "static Text textOf(" << name << " value) {\n  switch (value) {\n";
  const Record *type = enumeration.getValueAsDef("enum");
  for (const Record *one : type->getValueAsListOfDefs("enumerants")) {
    std::string text = enumText(enumeration);
    size_t place = text.find("$case");
    text.replace(place, strlen("$case"), one->getValueAsString("str").str());
    os << "  case " << name << "::" << one->getValueAsString("symbol")
       << ":\n    return {\"" << text << "\"};\n";
  }
  os << "  }\n  return {};\n}\n\n";
}

} // namespace

bool generateOps(raw_ostream &os, const RecordKeeper &records,
                 bool definitions) {
  std::vector<Function> functions;
  std::map<std::string, const Record *> enumerations;
  for (const Record *record : records.getAllDerivedDefinitions("Op")) {
    if (!record->getName().starts_with("Mp_"))
      continue;
    Function function(*record);
    if (!function.isForUsers())
      continue;
    function.enumerations(enumerations);
    functions.push_back(std::move(function));
  }
  for (auto &[name, enumeration] : enumerations)
    (definitions ? defineEnum : declareEnum)(os, name, *enumeration);
  for (const Function &function : functions)
    definitions ? function.define(os) : function.declare(os);
  return false;
}

} // namespace mp
