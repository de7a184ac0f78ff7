//===- Classes.cpp - which classes were taken for which -------------------===//
#include "runtime/report/Sections.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

using namespace llvm;

namespace mp {
namespace {

constexpr size_t kMostColumns = 20, kMostPairs = 20;

/// confusion.json, as far as it is well formed.
struct Classes {
  std::vector<std::string> names;
  std::vector<std::vector<uint64_t>> counts; ///< of [label][predicted], or none
  std::vector<std::array<uint64_t, 3>> confused; ///< label, predicted, number

  explicit Classes(const json::Object &object) {
    if (const json::Array *list = object.getArray("classes"))
      for (const json::Value &name : *list)
        names.push_back(name.getAsString().value_or("").str());
    for (const std::vector<uint64_t> &row : rowsOf(object, "confused"))
      if (row.size() == 3)
        confused.push_back({row[0], row[1], row[2]});
    counts = rowsOf(object, "counts");
    if (!all_of(counts,
                [&](const auto &row) { return row.size() == counts.size(); }))
      counts.clear();
    for (size_t label = 0; label < counts.size(); ++label)
      for (size_t other = 0; other < counts.size(); ++other)
        if (label != other && counts[label][other])
          confused.push_back({label, other, counts[label][other]});
    llvm::sort(confused, [](const auto &a, const auto &b) {
      return std::tuple(b[2], a) < std::tuple(a[2], b);
    });
  }

  std::string name(uint64_t index) const {
    return index < names.size() ? names[index] : std::to_string(index);
  }
  uint64_t labelled(size_t label) const {
    uint64_t sum = 0;
    for (uint64_t count : counts[label])
      sum += count;
    return sum;
  }

private:
  static std::vector<std::vector<uint64_t>> rowsOf(const json::Object &object,
                                                   StringRef key) {
    std::vector<std::vector<uint64_t>> rows;
    const json::Array *list = object.getArray(key);
    for (size_t i = 0; list && i < list->size(); ++i) {
      rows.emplace_back();
      if (const json::Array *row = (*list)[i].getAsArray())
        for (const json::Value &value : *row)
          rows.back().push_back(value.getAsUINT64().value_or(0));
    }
    return rows;
  }
};

/// The class of the style sheet by which a cell is shaded.
std::string shadeOf(bool isRight, double share) {
  StringRef level = share == 0     ? "none"
                    : share < 0.02 ? "few"
                    : share < 0.1  ? "some"
                                   : "many";
  return ("number " + level + (isRight ? " right" : " wrong")).str();
}

void writeMatrix(Html &html, const Classes &classes) {
  std::vector<std::string> names;
  for (size_t i = 0; i < classes.counts.size(); ++i)
    names.push_back(classes.name(i));
  std::vector<TableColumn> columns = {{"label"}};
  for (const std::string &name : names)
    columns.push_back({name, true});
  columns.push_back({"right", true});
  openTable(html, columns,
            "Samples of each label (row) by the class that was predicted "
            "(column).");
  for (size_t label = 0; label < names.size(); ++label) {
    uint64_t all = classes.labelled(label);
    html.open("tr").element("th", names[label], {{"scope", "row"}});
    for (size_t other = 0; other < names.size(); ++other) {
      uint64_t count = classes.counts[label][other];
      html.element(
          "td", count ? countText(count) : "",
          {{"class", shadeOf(label == other, all ? double(count) / all : 0)}});
    }
    html.element(
        "td", all ? shareText(double(classes.counts[label][label]) / all) : "",
        {{"class", "number"}});
    html.close();
  }
  closeTable(html);
}

void writePairs(Html &html, const Classes &classes) {
  openTable(html, {{"label"}, {"predicted"}, {"samples", true}},
            "The classes that were confused most often.");
  for (auto [label, predicted, count] :
       ArrayRef(classes.confused).take_front(kMostPairs)) {
    html.open("tr").element("td", classes.name(label));
    html.element("td", classes.name(predicted));
    html.element("td", countText(count), {{"class", "number"}}).close();
  }
  closeTable(html);
}

void writeMistakes(Html &html, const Classes &classes,
                   const json::Object &object) {
  auto mistakes = objectsOf(object, "mistakes");
  if (mistakes.empty())
    return;
  html.element("h3", "The surest mistakes");
  html.open("div", {{"class", "mistakes"}});
  for (const json::Object *mistake : mistakes) {
    std::string label = classes.name(countOf(*mistake, "label")),
                predicted = classes.name(countOf(*mistake, "predicted"));
    html.open("figure");
    if (StringRef png = textOf(*mistake, "png"); !png.empty())
      html.empty("img", {{"src", ("data:image/png;base64," + png).str()},
                         {"alt", label + ", taken for " + predicted}});
    html.open("figcaption").text(label + ", taken for ");
    html.element("strong", predicted);
    html.element("small", shareText(numberOf(*mistake, "probability")) +
                              " sure, sample " +
                              countText(countOf(*mistake, "sample")));
    html.close().close();
  }
  html.close();
}

} // namespace

void writeConfusion(Html &html, const RunFiles &run) {
  if (!run.confusion)
    return;
  Classes classes(*run.confusion);
  openSection(html, "confusion", "Classes");
  html.element("p",
               "What the evaluation after step " +
                   countText(countOf(*run.confusion, "step")) +
                   " predicted. Samples are counted from 0.",
               {{"class", "about"}});
  bool isSmall =
      !classes.counts.empty() && classes.counts.size() <= kMostColumns;
  if (isSmall)
    writeMatrix(html, classes);
  else if (!classes.confused.empty())
    writePairs(html, classes);
  writeMistakes(html, classes, *run.confusion);
  html.close();
}

} // namespace mp
