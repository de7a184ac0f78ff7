//===- Csv.cpp - metrics and evaluations as one table ---------------------===//
#include "runtime/report/Csv.h"
#include "runtime/report/RunLines.h"
#include "support/Error.h"
#include "support/Number.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <map>

using namespace llvm;

namespace mp {
namespace {

struct Table {
  std::vector<std::string> columns; ///< in the order of their first values
  std::map<std::string, size_t> places;
  std::map<int64_t, std::map<size_t, std::string>> rows; ///< by step

  void set(int64_t step, const std::string &column, const json::Value &value) {
    auto [known, isNew] = places.try_emplace(column, columns.size());
    if (isNew)
      columns.push_back(column);
    std::string &cell = rows[step][known->second];
    if (auto flag = value.getAsBoolean())
      cell = *flag ? "1" : "0";
    else if (auto number = value.getAsNumber())
      cell = shortestDecimal(*number);
  }
};

/// A cell with a comma, a quotation mark or a line's end is quoted.
std::string quoted(StringRef cell) {
  if (cell.find_first_of(",\"\r\n") == StringRef::npos)
    return cell.str();
  std::string text = "\"";
  for (char c : cell)
    text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

Error read(Table &table, StringRef folder, StringRef name, StringRef prefix) {
  std::vector<std::string> notes;
  return readRunLines(folder, name, notes, [&](json::Object line) -> Error {
    std::optional<int64_t> step = line.getInteger("step");
    if (!step)
      return makeError("expected a number of a step as \"step\"");
    // The keys of an object have no order of their own.
    std::vector<StringRef> keys;
    for (const auto &[key, value] : line)
      if (key != "step" && key != "epoch" && key != "non_finite")
        keys.push_back(key);
    auto rank = [](StringRef key) { return std::pair(key != "loss", key); };
    llvm::sort(keys,
               [&](StringRef a, StringRef b) { return rank(a) < rank(b); });
    for (StringRef key : keys)
      table.set(*step, (prefix + key).str(), *line.get(key));
    return Error::success();
  });
}

} // namespace

Error writeCsv(raw_ostream &os, StringRef folder) {
  Table table;
  if (Error error = read(table, folder, "metrics.jsonl", ""))
    return error;
  if (table.rows.empty())
    return makeError("{0}: no steps, as there is no metrics.jsonl with any; "
                     "mp-run train --out {0} makes one",
                     folder);
  if (Error error = read(table, folder, "evaluations.jsonl", "test_"))
    return error;
  os << "step";
  for (StringRef column : table.columns)
    os << "," << quoted(column);
  os << "\r\n";
  for (const auto &[step, cells] : table.rows) {
    os << step;
    for (size_t place = 0; place < table.columns.size(); ++place) {
      auto cell = cells.find(place);
      os << "," << (cell == cells.end() ? "" : cell->second);
    }
    os << "\r\n";
  }
  return Error::success();
}

} // namespace mp
