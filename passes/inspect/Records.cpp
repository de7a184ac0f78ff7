//===- Records.cpp - results that tell how large values are ---------------===//
#include "passes/inspect/Records.h"
#include "passes/analysis/Recipe.h"

using namespace mlir;
using namespace mp;

int64_t Records::add(const RecordedValue &value) {
  Builder b(function.getContext());
  NamedAttrList fields;
  fields.append("op", b.getStringAttr(value.op));
  fields.append("source", LocationAttr(value.location));
  fields.append("phase", b.getStringAttr(value.phase));
  fields.append("type", TypeAttr::get(value.type));
  fields.append("operands", b.getDenseI64ArrayAttr(value.operands));
  for (auto [name, set] : {std::pair("meant", value.meant),
                           {"watched", value.watched},
                           {"guarded", value.guarded}})
    if (set)
      fields.append(name, b.getUnitAttr());
  records.push_back(fields.getDictionary(b.getContext()));
  return records.size() - 1;
}

void Records::addFact(int64_t record, StringRef fact, Value scalar) {
  facts.emplace_back(("record." + Twine(record) + "." + fact).str(), scalar);
}

void Records::finish() {
  Builder b(function.getContext());
  SmallVector<Value> scalars;
  SmallVector<NamedAttribute> names;
  for (auto &[name, scalar] : facts) {
    scalars.push_back(scalar);
    names.push_back(b.getNamedAttr(kNameAttr, b.getStringAttr(name)));
  }
  appendResults(function, scalars, names);
  function->setAttr(kRecordsAttr, b.getArrayAttr(records));
}
