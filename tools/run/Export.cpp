//===- Export.cpp - mp-run export -----------------------------------------===//
#include "runtime/train/CheckpointWeights.h"
#include "tools/run/Commands.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace mp::tool {

int exportRun(ArrayRef<const char *> arguments) {
  std::string weights, dtype;
  bool averaged = false;
  Command command{"export", "RUN --weights FILE [options]",
                  "Writes what a run learnt, parameters and buffers alone, to "
                  "a safetensors "
                  "file:\nPyTorch's load_state_dict(strict=True) takes it, and "
                  "so do --init "
                  "and mp-run eval."};
  command.positional = 1;
  command.options = {
      text("weights", "FILE", weights, "the safetensors file to write",
           Names::Output),
      choice("dtype", dtype, {"f32", "f16", "bf16"},
             "type that the numbers are rounded to (that of each weight)"),
      flag("ema", averaged, true,
           "the moving averages of weights that the recipe's ema keeps"),
  };
  auto others = command.parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  if (weights.empty())
    return report(make_error<UsageError>("--weights FILE is missing"));
  const std::string &run = others->value().front();
  if (Error error = checkFiles({{"--weights", weights, Names::Output},
                                {"RUN", run, Names::InputRun}}))
    return report(std::move(error));
  auto exported = exportWeights(run, weights,
                                averaged ? Weights::Averaged : Weights::Trained,
                                parseElementType(dtype));
  if (!exported)
    return report(exported.takeError());
  outs() << weights << ": " << exported->tensors
         << (exported->tensors == 1 ? " tensor, " : " tensors, ")
         << format("%.1f MiB", exported->bytes / 1048576.0);
  if (exported->flushed)
    outs() << ", " << exported->flushed << " numbers below the smallest of "
           << dtype << " are zero";
  outs() << "\n";
  return 0;
}

} // namespace mp::tool
