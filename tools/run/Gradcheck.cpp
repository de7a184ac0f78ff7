//===- Gradcheck.cpp - mp-run gradcheck -----------------------------------===//
#include "codegen/Plugins.h"
#include "dialect/Dialects.h"
#include "precision/gradients/Check.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "tools/run/Commands.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace mp::tool {
namespace {

struct GradcheckRun {
  std::vector<std::string> plugins;
};

Command describe(GradcheckRun &options) {
  Command command{
      "gradcheck", "[OP...] [options]",
      "Compares the gradient rules of ops with central differences in f64, on "
      "the samples that each op\ngives of itself: of the OPs (own.softcap), "
      "else of all ops of the plugins, else of all of Mantissa's."};
  command.optional = 1000;
  command.options = {list("load-dialect-plugin", "FILE", options.plugins,
                          "shared library with a dialect of one's own",
                          Names::Input)};
  return command;
}

/// Loads the plugins' dialects, and Mantissa's. Returns the names of the
/// former.
Expected<StringSet<>> loadDialects(const GradcheckRun &options,
                                   mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  StringSet<> known, added;
  for (mlir::Dialect *dialect : context.getLoadedDialects())
    known.insert(dialect->getNamespace());
  PassRegistryAccess access;
  if (Error error = access.load(options.plugins))
    return std::move(error);
  mlir::DialectRegistry brought;
  access.registerDialects(brought);
  context.appendDialectRegistry(brought);
  context.loadAllAvailableDialects();
  for (mlir::Dialect *dialect : context.getLoadedDialects())
    if (!known.contains(dialect->getNamespace()))
      added.insert(dialect->getNamespace());
  return added;
}

/// Returns the ops that are asked for. Errors: an op without a gradient, with
/// the reason that it states; an unknown op; no op at all.
Expected<std::vector<precision::DifferentiableOp>>
choose(mlir::MLIRContext &context, ArrayRef<std::string> names,
       const StringSet<> &brought) {
  auto all = precision::differentiableOps(context);
  if (names.empty()) {
    erase_if(all, [&](const precision::DifferentiableOp &op) {
      StringRef dialect = StringRef(op.name).split('.').first;
      return brought.empty() ? dialect != "mp" : !brought.contains(dialect);
    });
    if (all.empty())
      return makeError("the plugins have no op with a gradient");
    return all;
  }
  std::vector<precision::DifferentiableOp> chosen;
  std::vector<std::string> known;
  for (const precision::DifferentiableOp &op : all)
    known.push_back(op.name);
  for (const std::string &name : names) {
    auto found = find_if(all, [&](const auto &op) { return op.name == name; });
    if (found != all.end()) {
      chosen.push_back(*found);
      continue;
    }
    auto op = mlir::RegisteredOperationName::lookup(name, &context);
    auto *rule = op ? op->getInterface<DifferentiableOpInterface>() : nullptr;
    if (rule)
      return makeError("{0} has no gradient: {1}", name,
                       rule->whyNotDifferentiable());
    return makeError("no op with a gradient is called '{0}'{1}", name,
                     suggest(name, known));
  }
  return chosen;
}

Error execute(const GradcheckRun &options, ArrayRef<std::string> names) {
  mlir::MLIRContext context;
  auto brought = loadDialects(options, context);
  if (!brought)
    return brought.takeError();
  auto ops = choose(context, names, *brought);
  if (!ops)
    return ops.takeError();
  size_t wrong = 0;
  for (const precision::DifferentiableOp &op : *ops) {
    auto check = precision::checkGradient(context, op);
    wrong += !check.faults.empty();
    outs() << formatv("{0,-32} {1} sample{2}, largest difference {3:e1}{4}\n",
                      check.op, check.samples, check.samples == 1 ? "" : "s",
                      check.difference, check.faults.empty() ? "" : ": WRONG");
    for (const std::string &fault : check.faults)
      outs() << "  " << fault << "\n";
    outs().flush();
  }
  if (wrong)
    return makeError("{0} of {1} gradient rules are wrong", wrong, ops->size());
  outs() << formatv("{0} gradient rule{1} within {2:e0} of central "
                    "differences\n",
                    ops->size(), ops->size() == 1 ? " is" : "s are",
                    precision::kGradientTolerance);
  return Error::success();
}

} // namespace

int gradcheck(ArrayRef<const char *> arguments) {
  GradcheckRun options;
  auto names = describe(options).parse(arguments);
  if (!names)
    return report(names.takeError());
  if (!*names)
    return 0;
  if (Error error = execute(options, **names))
    return report(std::move(error));
  return 0;
}

} // namespace mp::tool
