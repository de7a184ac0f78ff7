//===- Spelling.cpp - suggestions for misspelt names ----------------------===//
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace mp {

std::vector<std::string>
nearestNames(StringRef name, ArrayRef<std::string> names, size_t limit) {
  std::vector<std::pair<unsigned, std::string>> ranked;
  for (const std::string &candidate : names) {
    unsigned distance = name.edit_distance_insensitive(candidate);
    if (std::is_permutation(name.begin(), name.end(), candidate.begin(),
                            candidate.end()))
      distance = std::min(distance, 1u);
    size_t longer = std::max(name.size(), candidate.size());
    bool part =
        name.size() >= 3 && StringRef(candidate).contains_insensitive(name);
    // A name that shares half of the letters, or contains the other as a part,
    // is near enough to help.
    if (part || 2 * distance <= longer)
      ranked.emplace_back(part ? 0 : distance, candidate);
  }
  llvm::sort(ranked);
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
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

} // namespace mp
