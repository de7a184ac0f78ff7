//===- RunModule.cpp - the module that a run trained ----------------------===//
#include "tools/run/RunModule.h"
#include "runtime/data/Array.h"
#include "runtime/report/RunFiles.h"
#include "support/Error.h"
#include "support/Json.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp::tool {

Expected<std::string> moduleOf(StringRef run) {
  SmallString<256> path(run);
  sys::path::append(path, "summary.json");
  auto text = readFile(path);
  if (!text)
    return makeError("{0}; name the module with --module",
                     toString(text.takeError()));
  Expected<json::Value> summary = parseJson((*text)->getBuffer());
  if (!summary)
    return makeError("{0}: {1}", path, toString(summary.takeError()));
  const json::Object *object = summary->getAsObject();
  StringRef file = object ? textOf(*object, "file") : "";
  if (file.empty())
    return makeError("{0}: does not say which module was trained; name it with "
                     "--module",
                     path);
  return file.str();
}

} // namespace mp::tool
