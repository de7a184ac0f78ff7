//===- Policies.cpp - mp-run policies -------------------------------------===//
#include "codegen/Plugins.h"
#include "passes/autocast/Policy.h"
#include "tools/run/Commands.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp::tool {
namespace {

/// Whether any system has the op; the internal ops of Mantissa's passes are
/// left out.
bool hasName(const AutocastOpInterface::Concept &facts) {
  for (StringRef system : {"torch", "tensorflow", "relay", "relax"})
    if (!facts.getAutocastName(system).empty())
      return true;
  return facts.getNumericClass() != NumericClass::none;
}

/// Prints a table in Markdown: each policy's category for each op.
void printTable(raw_ostream &os, mlir::MLIRContext &context,
                ArrayRef<Policy> policies) {
  os << "| op |";
  for (const Policy &policy : policies)
    os << " " << policy.name()
       << (policy.type().empty() ? "" : " to " + policy.type()) << " |";
  os << "\n|---|";
  for (size_t i = 0; i < policies.size(); ++i)
    os << "---|";
  os << "\n";
  for (mlir::RegisteredOperationName op : decidedOps(&context)) {
    auto *facts = op.getInterface<AutocastOpInterface>();
    if (!hasName(*facts))
      continue;
    os << "| `" << op.getStringRef() << "` |";
    for (const Policy &policy : policies)
      os << " "
         << nameOf(policy
                       .decide(op.getStringRef(),
                               namesIn(policy.system(), *facts),
                               facts->getNumericClass())
                       .category)
         << " |";
    os << "\n";
  }
}

/// Loads Mantissa's dialect and those of plugins.
Error loadDialects(ArrayRef<std::string> plugins, mlir::MLIRContext &context) {
  context.loadDialect<MpDialect>();
  PassRegistryAccess access;
  if (Error error = access.load(plugins))
    return error;
  mlir::DialectRegistry registry;
  access.registerDialects(registry);
  context.appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context.getOrLoadDialect(name);
  return Error::success();
}

} // namespace

int policies(ArrayRef<const char *> arguments) {
  std::vector<std::string> plugins;
  Command command{
      "policies", "[POLICY]... [options]",
      "Prints what autocast policies make of each op, as a table: the presets, "
      "or those named,\npresets or JSON files."};
  command.optional = 1000;
  command.options = {list("load-dialect-plugin", "FILE", plugins,
                          "shared library with a dialect of one's own",
                          Names::Input)};
  auto names = command.parse(arguments);
  if (!names)
    return report(names.takeError());
  if (!*names)
    return 0;
  mlir::MLIRContext context;
  if (Error error = loadDialects(plugins, context))
    return report(std::move(error));
  std::vector<Policy> all;
  for (const std::string &name :
       (*names)->empty() ? Policy::names() : **names) {
    Expected<Policy> policy = Policy::load(name);
    if (!policy)
      return report(policy.takeError());
    if (StringRef(name).ends_with(".json"))
      if (Error error = policy->resolveNames(&context))
        return report(createStringError("policy " + name + ": " +
                                        toString(std::move(error))));
    all.push_back(*policy);
    for (const std::string &type : policy->listedTypes()) {
      policy->chooseType(type);
      all.push_back(*policy);
    }
  }
  printTable(outs(), context, all);
  return 0;
}

} // namespace mp::tool
