//===- RunFiles.cpp - the files of a run folder ---------------------------===//
#include "runtime/report/RunFiles.h"
#include "runtime/report/RunLines.h"
#include "support/Error.h"
#include "support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace llvm;

namespace mp {

StringRef textOf(const json::Object &object, StringRef key) {
  return object.getString(key).value_or("");
}

double numberOf(const json::Object &object, StringRef key) {
  return object.getNumber(key).value_or(NAN);
}

uint64_t countOf(const json::Object &object, StringRef key) {
  const json::Value *value = object.get(key);
  return value ? value->getAsUINT64().value_or(0) : 0;
}

std::vector<const json::Object *> objectsOf(const json::Array &array) {
  std::vector<const json::Object *> objects;
  for (const json::Value &value : array)
    if (const json::Object *object = value.getAsObject())
      objects.push_back(object);
  return objects;
}

std::vector<const json::Object *> objectsOf(const json::Object &object,
                                            StringRef key) {
  const json::Array *array = object.getArray(key);
  return array ? objectsOf(*array) : std::vector<const json::Object *>();
}

/// A file that is one JSON value; nothing if there is no file.
template <typename T>
static Expected<std::optional<T>> readWhole(StringRef folder, StringRef name,
                                            T *(json::Value::*as)(),
                                            const char *expected) {
  std::string path = pathInRun(folder, name);
  auto buffer = readIfThere(path);
  if (!buffer)
    return buffer.takeError();
  if (!*buffer)
    return std::nullopt;
  auto value = parseJson((*buffer)->getBuffer());
  if (!value)
    return makeError("{0}: {1}; mp-run train writes it anew", path,
                     toString(value.takeError()));
  if (T *found = ((*value).*as)())
    return std::move(*found);
  return makeError("{0}: expected {1}; mp-run train writes it anew", path,
                   expected);
}

using Series = std::vector<std::pair<std::string, double>>;

/// The numbers of a step. Those that all runs have come first, because a page
/// shows only a limited number.
static Series seriesOf(const json::Object &line) {
  constexpr StringLiteral known[] = {"loss", "scale", "lr", "grad_norm"};
  Series series;
  auto add = [&](StringRef key, const json::Value &value) {
    std::optional<double> number = value.getAsNumber();
    if (number || value.kind() == json::Value::Null)
      series.emplace_back(key.str(), number.value_or(NAN));
  };
  for (StringRef key : known)
    if (const json::Value *value = line.get(key))
      add(key, *value);
  for (auto &[key, value] : line)
    if (key != "step" && !is_contained(known, StringRef(key)))
      add(key, value);
  return series;
}

void RunFiles::addSkip(int64_t step) {
  bool goesOn = lastSkip && *lastSkip + 1 == step;
  lastSkip = step;
  if (goesOn && !furtherSkips)
    skips.back().second = step;
  else if (!goesOn && skips.size() < maxListed)
    skips.push_back({step, step});
  else if (!goesOn)
    ++furtherSkips;
}

Error RunFiles::readMetrics() {
  int64_t before = -1;
  auto take = [&](json::Object line) -> Error {
    std::optional<int64_t> step = line.getInteger("step");
    if (!step || *step < 0)
      return makeError("expected a number of a step as \"step\"");
    if (*step <= before)
      return makeError("step {0} comes after step {1}", *step, before);
    bool skipped = line.getBoolean("skipped").value_or(false);
    steps.add(*step, skipped, seriesOf(line));
    if (skipped)
      addSkip(*step);
    before = *step;
    return Error::success();
  };
  return readRunLines(folder, "metrics.jsonl", notes, take);
}

Error RunFiles::readEvaluations() {
  auto take = [&](json::Object line) -> Error {
    std::optional<int64_t> step = line.getInteger("step");
    if (!step || *step < 0)
      return makeError("expected a number of a step as \"step\"");
    line.erase("epoch");
    line.erase("seconds");
    if (evaluations.total().steps == 0 || *step > evaluations.total().last)
      evaluations.add(*step, false, seriesOf(line));
    return Error::success();
  };
  return readRunLines(folder, "evaluations.jsonl", notes, take);
}

Error RunFiles::readLedger() {
  auto take = [&](json::Object line) -> Error {
    const json::Object *all = line.getObject("all");
    std::optional<int64_t> step = line.getInteger("step");
    if (!all || !step || *step < 0 || !line.getArray("gradients"))
      return makeError("expected \"step\", \"gradients\" and \"all\"");
    double elements = 0;
    for (StringRef key : {"zero", "flushed", "subnormal", "normal",
                          "near_overflow", "overflow", "nonfinite"})
      elements += countOf(*all, key);
    auto share = [&](StringRef name, StringRef key) {
      return std::pair(name.str(),
                       elements > 0 ? countOf(*all, key) / elements : 0);
    };
    if (losses.total().steps == 0 || *step > losses.total().last)
      losses.add(*step, false,
                 {share("share that becomes zero", "flushed"),
                  share("share that is subnormal", "subnormal"),
                  share("share that overflows", "overflow")});
    ledger = std::move(line);
    return Error::success();
  };
  return readRunLines(folder, "ledger.jsonl", notes, take);
}

Error RunFiles::readFindings() {
  auto take = [&](json::Object line) -> Error {
    uint64_t step = countOf(line, "step");
    auto same = find_if(findings, [&](const Finding &finding) {
      return all_of(ArrayRef<StringRef>{"where", "op", "source"},
                    [&](StringRef key) {
                      return textOf(finding.first, key) == textOf(line, key);
                    });
    });
    if (same != findings.end()) {
      ++same->steps;
      same->last = step;
    } else if (findings.size() < maxListed) {
      findings.push_back({.first = std::move(line), .last = step});
    } else {
      ++furtherFindings;
    }
    return Error::success();
  };
  return readRunLines(folder, "non-finite.jsonl", notes, take);
}

/// A summary is written at the end of a run, so the folder of a killed run may
/// hold that of the run before.
Error RunFiles::compareSummary() {
  if (!summary || !steps.total().steps)
    return Error::success();
  std::optional<int64_t> said = summary->getInteger("steps");
  if (said && *said != steps.total().last)
    notes.push_back(formatv("summary.json is of a run that ended after step "
                            "{0}, and metrics.jsonl goes to step {1}: this run "
                            "has not ended, or was killed.",
                            *said, steps.total().last));
  return Error::success();
}

Expected<RunFiles> RunFiles::read(StringRef folder) {
  constexpr StringLiteral names[] = {
      "metrics.jsonl", "summary.json",     "plan.json",  "casts.json",
      "ledger.jsonl",  "non-finite.jsonl", "values.json"};
  if (none_of(names, [&](StringRef name) {
        return sys::fs::exists(pathInRun(folder, name));
      }))
    return makeError("{0}: no run folder, for it has no {1}; mp-run train "
                     "--out {0} makes one",
                     folder, join(std::begin(names), std::end(names), ", "));
  RunFiles run;
  run.folder = folder.str();
  auto summary = readWhole<json::Object>(
      folder, "summary.json", &json::Value::getAsObject, "an object");
  if (!summary)
    return summary.takeError();
  auto plan = readWhole<json::Object>(folder, "plan.json",
                                      &json::Value::getAsObject, "an object");
  if (!plan)
    return plan.takeError();
  auto casts = readWhole<json::Array>(folder, "casts.json",
                                      &json::Value::getAsArray, "a list");
  if (!casts)
    return casts.takeError();
  auto values = readWhole<json::Object>(folder, "values.json",
                                        &json::Value::getAsObject, "an object");
  if (!values)
    return values.takeError();
  run.summary = std::move(*summary);
  run.plan = std::move(*plan);
  run.casts = std::move(*casts);
  auto confusion = readWhole<json::Object>(
      folder, "confusion.json", &json::Value::getAsObject, "an object");
  if (!confusion)
    return confusion.takeError();
  run.values = std::move(*values);
  run.confusion = std::move(*confusion);
  if (Error error = run.readMetrics())
    return error;
  if (Error error = run.readEvaluations())
    return error;
  if (Error error = run.readLedger())
    return error;
  if (Error error = run.readFindings())
    return error;
  if (Error error = run.compareSummary())
    return error;
  return run;
}

} // namespace mp
