//===- PackTexts.cpp - several texts in a row -----------------------------===//
#include "tools/data/PackTexts.h"
#include <set>

using namespace llvm;
using namespace mp::tokenizers;

namespace mp::tool {

/// The texts of each row, by number.
static std::vector<std::vector<size_t>>
planRows(ArrayRef<std::vector<Token>> texts, size_t length) {
  std::vector<std::vector<size_t>> rows;
  std::set<std::pair<size_t, size_t>> room; ///< tokens, row
  for (size_t text = 0; text < texts.size(); ++text) {
    size_t size = texts[text].size();
    if (size == 0)
      continue;
    auto fits = room.lower_bound({size, 0});
    size_t left = length, row = rows.size();
    if (fits == room.end()) {
      rows.emplace_back();
    } else {
      std::tie(left, row) = *fits;
      room.erase(fits);
    }
    rows[row].push_back(text);
    room.insert({left - size, row});
  }
  return rows;
}

PackedTexts packTexts(ArrayRef<std::vector<Token>> texts, size_t length,
                      Token pad) {
  PackedTexts packed;
  for (const std::vector<size_t> &row : planRows(texts, length)) {
    size_t end = ++packed.rows * length;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::vector<Token> &text = texts[row[i]];
      packed.tokens.insert(packed.tokens.end(), text.begin(), text.end());
      packed.filled += text.size();
      for (size_t place = 0; place < text.size(); ++place) {
        packed.segments.push_back(static_cast<uint16_t>(i + 1));
        packed.positions.push_back(static_cast<uint16_t>(place));
      }
    }
    packed.tokens.resize(end, pad);
    packed.segments.resize(end);
    packed.positions.resize(end);
  }
  return packed;
}

} // namespace mp::tool
