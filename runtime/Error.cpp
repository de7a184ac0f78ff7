//===- Error.cpp - how the runtime words its errors -----------------------===//
#include "runtime/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <system_error>

using namespace llvm;

namespace mp {

Error makeSystemError(StringRef what, StringRef path, int code) {
  std::error_code error(code, std::generic_category());
  return createStringError(
      error, formatv("cannot {0} {1}: {2}", what, path, error.message()).str());
}

std::string at(const Location &location) {
  std::string text = location.str();
  return text.empty() ? text : " (" + text + ")";
}

std::vector<std::string>
nearestNames(StringRef name, ArrayRef<std::string> names, size_t limit) {
  std::vector<std::pair<unsigned, std::string>> ranked;
  for (const std::string &candidate : names) {
    unsigned distance = name.edit_distance_insensitive(candidate);
    size_t longer = std::max(name.size(), candidate.size());
    bool part =
        name.size() >= 3 && StringRef(candidate).contains_insensitive(name);
    // Half of the letters in common, or a piece of it, is near enough to help.
    if (part || 2 * distance <= longer)
      ranked.emplace_back(part ? 0 : distance, candidate);
  }
  llvm::sort(ranked);
  std::vector<std::string> nearest;
  for (auto &[distance, candidate] : ranked)
    if (nearest.size() < limit)
      nearest.push_back(std::move(candidate));
  return nearest;
}

std::string quoteList(ArrayRef<std::string> names, size_t limit) {
  std::string text;
  for (const std::string &name : names.take_front(limit)) {
    if (!text.empty())
      text += ", ";
    text += "'" + name + "'";
  }
  if (names.size() > limit)
    text += formatv(" and {0} more", names.size() - limit);
  return text;
}

std::string suggest(StringRef name, ArrayRef<std::string> names) {
  std::vector<std::string> nearest = nearestNames(name, names);
  if (nearest.empty())
    return names.empty() ? " (none is known)"
                         : " (known: " + quoteList(names) + ")";
  std::string text = ", did you mean ";
  for (auto [i, candidate] : llvm::enumerate(nearest)) {
    if (i)
      text += i + 1 == nearest.size() ? " or " : ", ";
    text += "'" + candidate + "'";
  }
  return text + "?";
}

std::string printableHead(StringRef text, size_t limit) {
  std::string shown;
  for (char c : text.take_front(limit))
    shown += isPrint(c) ? c : '?';
  return "\"" + shown + (text.size() > limit ? "...\"" : "\"");
}

} // namespace mp
