//===- CheckpointFile.cpp - the format of checkpoint files ----------------===//
#include "runtime/train/CheckpointFile.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/CheckpointNames.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

/// Files of format 1 have no digests.
static constexpr StringLiteral kFormatWithoutDigests = "1";

Expected<Safetensors> readWeights(StringRef path) {
  Expected<Safetensors> file = readSafetensors(checkpointPath(path));
  if (!file)
    return file.takeError();
  if (Error error = file->checkUsable())
    return error;
  auto version = file->metadata.find(kFormatKey.str());
  if (version == file->metadata.end() ||
      version->second == kFormatWithoutDigests)
    return file;
  if (version->second != kFormatVersion &&
      version->second != kPermutedFormatVersion)
    return makeError("{0}: checkpoint format {1}, expected at most {2}",
                     file->path, version->second, kPermutedFormatVersion);
  if (!file->hasDigests)
    return makeError("{0}: damaged checkpoint: it has no digests", file->path);
  return file;
}

bool isWeight(const Variable &variable) {
  return variable.kind == VariableKind::Parameter ||
         variable.kind == VariableKind::Buffer;
}

bool isHistory(const Variable &variable) {
  return variable.role.kind == VariableRole::Kind::History ||
         variable.role.kind == VariableRole::Kind::Position;
}

Error Differences::finish(const Twine &headline) const {
  if (lines.empty())
    return Error::success();
  constexpr size_t most = 6;
  std::string text = headline.str();
  for (const std::string &line : ArrayRef(lines).take_front(most))
    text += "\n  " + line;
  if (lines.size() > most)
    text += formatv("\n  and {0} more", lines.size() - most);
  return createStringError(text);
}

} // namespace mp
