//===- RunLines.cpp - files of a run with one object a line ---------------===//
#include "runtime/report/RunLines.h"
#include "runtime/data/Array.h"
#include "support/Error.h"
#include "support/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {

std::string pathInRun(StringRef folder, StringRef name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

Expected<std::unique_ptr<MemoryBuffer>> readIfThere(StringRef path) {
  if (!sys::fs::exists(path))
    return nullptr;
  // A device or pipe may have no end.
  if (!sys::fs::is_regular_file(path))
    return makeError("{0}: expected a file", path);
  return readFile(path);
}

Error readRunLines(StringRef folder, StringRef name,
                   std::vector<std::string> &notes,
                   function_ref<Error(json::Object)> take) {
  std::string path = pathInRun(folder, name);
  auto buffer = readIfThere(path);
  if (!buffer)
    return buffer.takeError();
  StringRef rest = *buffer ? (*buffer)->getBuffer() : StringRef();
  for (uint64_t number = 1; !rest.empty(); ++number) {
    bool isEnded = rest.contains('\n');
    auto [line, others] = rest.split('\n');
    rest = others;
    auto value = parseJson(line);
    if (!value && !isEnded) {
      consumeError(value.takeError());
      notes.push_back(
          formatv("{0} ends in half a line, as a killed run leaves it; line "
                  "{1} is left out.",
                  name, number));
      break;
    }
    auto fault = [&](const Twine &what) {
      return makeError("{0}:{1}: {2}; without the line the rest can be read",
                       path, number, what.str());
    };
    if (!value)
      return fault(toString(value.takeError()));
    json::Object *object = value->getAsObject();
    if (!object)
      return fault("expected an object");
    if (Error error = take(std::move(*object)))
      return fault(toString(std::move(error)));
  }
  return Error::success();
}

} // namespace mp
