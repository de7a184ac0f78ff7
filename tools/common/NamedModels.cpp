//===- NamedModels.cpp - zoo:NAME in place of a module's file -------------===//
#include "tools/common/NamedModels.h"
#include "runtime/data/Array.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp::tool {

static std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const models::Model &model : models::allModels())
    all.push_back(model.name);
  return all;
}

Expected<std::string> moduleOfModel(StringRef name,
                                    const models::ModelOptions &options) {
  for (const models::Model &model : models::allModels()) {
    if (model.name != name)
      continue;
    std::string module = model.name;
    std::ranges::replace(module, '-', '_');
    mantissa::Graph net(module);
    std::string mistake = models::build(net, model, options);
    if (!mistake.empty())
      return makeError("{0}: {1}", name, mistake);
    return net.text(/*locations=*/false);
  }
  return makeError(
      "no network is called '{0}'{1}; mp-zoo list prints the names", name,
      suggest(name, names()));
}

/// Sets the option that "width=0.25" names.
static Error set(models::ModelOptions &options, StringRef text) {
  auto [name, value] = text.split('=');
  if (name == "data" || name == "augment") {
    (name == "data" ? options.images : options.augment) = value.str();
    return Error::success();
  }
  if (name == "width") {
    if (!to_float(value, options.width) || !(options.width > 0) ||
        options.width > 64)
      return makeError("zoo: width takes a number above zero, not '{0}'",
                       value);
    return Error::success();
  }
  int64_t *number = name == "classes" ? &options.classes
                    : name == "image" ? &options.side
                                      : nullptr;
  if (!number)
    return makeError(
        "zoo: unknown option '{0}', expected width, classes, image, "
        "data or augment",
        name);
  if (!to_integer(value, *number) || *number < 1 || *number > INT32_MAX)
    return makeError("zoo: {0} takes a whole number above zero, not '{1}'",
                     name, value);
  return Error::success();
}

Expected<std::string> moduleOfModel(StringRef text) {
  auto [name, rest] = text.split(',');
  models::ModelOptions options;
  SmallVector<StringRef> words;
  rest.split(words, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    if (Error error = set(options, word))
      return std::move(error);
  return moduleOfModel(name, options);
}

void nameModels() { nameModules("zoo", moduleOfModel); }

} // namespace mp::tool
