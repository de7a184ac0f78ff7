//===- MpVersion.cpp - the version of the mp dialect ----------------------===//
#include "program/MpVersion.h"

using namespace mp;
using llvm::StringRef;

// MP_VERSION is the project's, set for this file by CMakeLists.txt.
MpVersion MpVersion::ours() {
  static const MpVersion version = *parse(MP_VERSION);
  return version;
}

std::optional<MpVersion> MpVersion::parse(StringRef text) {
  MpVersion version;
  if (text.consumeInteger(10, version.major) || !text.consume_front(".") ||
      text.consumeInteger(10, version.minor))
    return std::nullopt;
  bool isWhole = text.empty() || text.front() == '.';
  if (!isWhole || text.find_first_not_of("0123456789.") != StringRef::npos)
    return std::nullopt;
  return version;
}

std::string MpVersion::str() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string MpVersion::isNewer() const {
  return "needs mp dialect " + str() + ", this is " + ours().str();
}
