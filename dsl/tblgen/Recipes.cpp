//===- Recipes.cpp - a function for each optimizer and schedule -----------===//
#include "Generate.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp {
namespace {

/// An attribute all of whose parameters are fields: `#mp.adamw<lr = 1.0e-3>`.
struct Fields {
  explicit Fields(const Record &record, StringRef kind)
      : record(record), kind(kind),
        mnemonic(record.getValueAsString("mnemonic")),
        parameters(*record.getValueAsDag("parameters")) {}

  std::string options() const {
    return typeName(mnemonic) + (isSchedule() ? "ScheduleOptions" : "Options");
  }
  bool isSchedule() const { return kind == "Schedule"; }

  void declare(raw_ostream &os) const {
    comment(os, "Arguments of " + functionName(mnemonic) + ".");
    os << "struct " << options() << " {\n";
    for (unsigned i = 0; i < parameters.getNumArgs(); ++i)
      declareField(os, *cast<DefInit>(parameters.getArg(i))->getDef(),
                   parameters.getArgNameStr(i));
    if (isSchedule()) {
      comment(os, "Steps in which the learning rate rises first.", "  ");
      os << "  int64_t warmup = 0;\n";
    }
    os << "};\n";
    comment(os, record.getValueAsString("summary"));
    comment(os, "");
    comment(os, record.getValueAsString("description"));
    os << kind << " " << functionName(mnemonic) << "(const " << options()
       << " &options = {});\n\n";
  }

  static void declareField(raw_ostream &os, const Record &field,
                           StringRef name) {
    std::string type = field.getValueAsString("cppType").str();
    if (StringRef(type).contains("Number"))
      type = "double";
    StringRef initial = field.getValueAsString("initial");
    os << "  " << type << " " << convertToCamelFromSnakeCase(name) << " = "
       << (initial == "kRequired" ? "0" : initial) << ";\n";
  }

  void define(raw_ostream &os) const {
    os << kind << " " << functionName(mnemonic) << "(const " << options()
       << " &options) {\n  FieldsText fields(\"" << mnemonic << "\");\n";
    for (unsigned i = 0; i < parameters.getNumArgs(); ++i)
      os << "  fields.add(\"" << parameters.getArgNameStr(i) << "\", options."
         << convertToCamelFromSnakeCase(parameters.getArgNameStr(i)) << ");\n";
    os << "  return {fields.text(" << (isSchedule() ? "options.warmup" : "0")
       << ")};\n}\n\n";
  }

  const Record &record;
  StringRef kind, mnemonic;
  const DagInit &parameters;
};

} // namespace

bool generateRecipes(raw_ostream &os, const RecordKeeper &records,
                     bool definitions) {
  for (auto [base, kind] :
       {std::pair<StringRef, StringRef>{"Mp_OptimizerAttr", "Optimizer"},
        std::pair<StringRef, StringRef>{"Mp_ScheduleAttr", "Schedule"}})
    for (const Record *record : records.getAllDerivedDefinitions(base)) {
      Fields fields(*record, kind);
      definitions ? fields.define(os) : fields.declare(os);
    }
  return false;
}

} // namespace mp
