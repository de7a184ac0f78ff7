//===- Common.cpp - options that several subcommands share ----------------===//
#include "passes/Passes.h"
#include "tools/run/Commands.h"

using namespace llvm;

namespace mp::tool {

Error checkPrecision(StringRef name) {
  auto known = resolvePrecision(name);
  if (!known)
    return make_error<UsageError>("--precision: " +
                                  toString(known.takeError()));
  return Error::success();
}

std::vector<Option> CommonOptions::table() {
  Option precisionOption = text("precision", "NAME", precision,
                                "fp32, fp16, bf16 or a name that PyTorch "
                                "Lightning, Keras or Apex gives one");
  precisionOption.set = [this](StringRef given) -> Error {
    precision = given.str();
    return checkPrecision(given);
  };
  return {
      std::move(precisionOption),
      choice("device", device, {"cpu", "cuda"}, "where to run (cpu)"),
      number(
          "threads", [this](uint64_t value) { threads = value; }, 1, 4096,
          "worker threads (one a core); results do not depend on it"),
      flag("no-onednn", onednn, false, "use generated kernels alone"),
  };
}

} // namespace mp::tool
