//===- Rows.cpp - named fields of JSON lines and CSV ----------------------===//
#include "runtime/text/Rows.h"
#include "runtime/data/Array.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"
#include "support/JsonReader.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mp::tokenizers {

namespace {

/// Fails if a row has not all fields.
Error checkFields(ArrayRef<std::string> fields,
                  ArrayRef<std::optional<std::string>> values,
                  ArrayRef<std::string> names) {
  for (auto [field, value] : zip_equal(fields, values))
    if (!value)
      return makeError("has no field '{0}'{1}", field, suggest(field, names));
  return Error::success();
}

/// Fails if several values could be meant by a field.
Error checkNames(ArrayRef<std::string> fields, ArrayRef<std::string> names) {
  for (const std::string &field : fields)
    if (count(names, field) > 1)
      return makeError("has more than one field '{0}'", field);
  return Error::success();
}

std::vector<std::string>
valuesOf(MutableArrayRef<std::optional<std::string>> found) {
  std::vector<std::string> values;
  for (std::optional<std::string> &value : found)
    values.push_back(std::move(*value));
  return values;
}

//===----------------------------------------------------------------------===//
// JSON lines
//===----------------------------------------------------------------------===//

/// Reads a string, or a number as it is written.
bool readValue(JsonReader &json, StringRef line, std::string &value) {
  StringRef rest = line.substr(json.place());
  if (rest.starts_with("\"")) {
    JsonReader::String string;
    if (json.string(string))
      return true;
    value = string.str();
    return false;
  }
  if (rest.empty() || (!isDigit(rest.front()) && rest.front() != '-'))
    return json.fail("expected a string or a number, found " +
                     printableHead(rest));
  if (json.skip())
    return true;
  value =
      rest.take_until([](char c) { return StringRef(",} \t\r\n").contains(c); })
          .str();
  return false;
}

Error readObject(StringRef line, ArrayRef<std::string> fields,
                 std::vector<std::string> &values) {
  std::vector<std::optional<std::string>> found(fields.size());
  std::vector<std::string> names;
  JsonReader json(line);
  bool failed = json.object([&](const JsonReader::String &key) {
    names.push_back(key.str());
    const auto *field = find(fields, names.back());
    if (field == fields.end())
      return json.skip();
    std::string value;
    if (readValue(json, line, value))
      return true;
    found[field - fields.begin()] = std::move(value);
    return false;
  });
  if (failed || json.end())
    return makeError("{0}", json.message());
  if (Error error = checkNames(fields, names))
    return error;
  if (Error error = checkFields(fields, found, names))
    return error;
  values = valuesOf(found);
  return Error::success();
}

Error readJsonLines(StringRef text, ArrayRef<std::string> fields, size_t &line,
                    RowReader row) {
  while (!text.empty()) {
    auto [object, rest] = text.split('\n');
    ++line;
    text = rest;
    if (object.trim().empty())
      continue;
    std::vector<std::string> values;
    if (Error error = readObject(object, fields, values))
      return error;
    if (Error error = row(values, line))
      return error;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// CSV
//===----------------------------------------------------------------------===//

/// Reads a file of values with `separator` between them.
class CsvReader {
public:
  CsvReader(StringRef text, char separator, size_t &line)
      : text(text), separator(separator), line(line) {}

  bool atEnd() const { return text.empty(); }

  /// Reads the next row, and leaves its first line in `line`.
  Error next(std::vector<std::string> &values) {
    values.clear();
    line += linesOfLast;
    linesOfLast = 1;
    for (bool more = true; more;) {
      values.emplace_back();
      if (Error error = value(values.back(), more))
        return error;
    }
    return Error::success();
  }

private:
  Error value(std::string &to, bool &more) {
    if (text.consume_front("\"")) {
      if (Error error = quoted(to))
        return error;
    } else {
      to = text.take_until([&](char c) {
                 return c == separator || c == '\n' || c == '\r';
               })
               .str();
      text = text.drop_front(to.size());
    }
    more = !text.empty() && text.front() == separator;
    if (more) {
      text = text.drop_front();
      return Error::success();
    }
    if (text.consume_front("\r\n") || text.consume_front("\n") ||
        text.consume_front("\r") || text.empty())
      return Error::success();
    return makeError("expected '{0}' or the end of the line after a value in "
                     "quotes, found {1}",
                     separator == '\t' ? StringRef("\\t")
                                       : StringRef(&separator, 1),
                     printableHead(text));
  }

  Error quoted(std::string &to) {
    while (true) {
      size_t end = text.find('"');
      if (end == StringRef::npos)
        return makeError("a value in quotes has no end");
      to += text.take_front(end);
      linesOfLast += text.take_front(end).count('\n');
      text = text.drop_front(end + 1);
      if (!text.consume_front("\""))
        return Error::success();
      to += '"';
    }
  }

  StringRef text;
  char separator;
  size_t &line, linesOfLast = 1;
};

Error readCsv(StringRef text, char separator, ArrayRef<std::string> fields,
              size_t &line, RowReader row) {
  CsvReader csv(text, separator, line);
  std::vector<std::string> names, values;
  if (csv.atEnd())
    return makeError("is empty, expected a line of names");
  if (Error error = csv.next(names))
    return error;
  if (Error error = checkNames(fields, names))
    return error;
  std::vector<std::optional<std::string>> found(fields.size());
  while (!csv.atEnd()) {
    if (Error error = csv.next(values))
      return error;
    if (values.size() == 1 && values.front().empty())
      continue; // an empty line
    if (values.size() != names.size())
      return makeError("has {0} values, the first line has {1} names",
                       values.size(), names.size());
    for (auto [field, value] : zip_equal(fields, found)) {
      auto name = find(names, field);
      value.reset();
      if (name != names.end())
        value = values[name - names.begin()];
    }
    if (Error error = checkFields(fields, found, names))
      return error;
    if (Error error = row(valuesOf(found), line))
      return error;
  }
  return Error::success();
}

} // namespace

Error parseRows(StringRef text, RowFormat format, ArrayRef<std::string> fields,
                RowReader row) {
  if (std::optional<size_t> at = firstInvalid(text))
    return makeError("byte {0} is not UTF-8", *at);
  text.consume_front("\xEF\xBB\xBF"); // the mark of UTF-8
  // The line that was read last, from 1 on; CSV adds to it before it reads.
  size_t line = 0;
  Error error = format == RowFormat::JsonLines
                    ? readJsonLines(text, fields, line, row)
                    : readCsv(text, format == RowFormat::Tsv ? '\t' : ',',
                              fields, line, row);
  if (error)
    return makeError("line {0}: {1}", line, toString(std::move(error)));
  return Error::success();
}

static RowFormat formatOf(StringRef path) {
  if (path.ends_with(".csv"))
    return RowFormat::Csv;
  return path.ends_with(".tsv") ? RowFormat::Tsv : RowFormat::JsonLines;
}

Error readRows(StringRef path, ArrayRef<std::string> fields, RowReader row) {
  auto file = readFile(path);
  if (!file)
    return file.takeError();
  if (Error error =
          parseRows((*file)->getBuffer(), formatOf(path), fields, row))
    return makeError("{0}: {1}", path, toString(std::move(error)));
  return Error::success();
}

} // namespace mp::tokenizers
