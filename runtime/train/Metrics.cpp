//===- Metrics.cpp - metrics and summary of a run as files ----------------===//
#include "runtime/train/Metrics.h"
#include "support/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <sys/resource.h>

using namespace llvm;

namespace mp {

/// Nine digits identify every f32, seventeen every f64.
static void number(json::OStream &json, StringRef key, double value) {
  json.attributeBegin(key);
  if (!std::isfinite(value))
    json.value(nullptr);
  else
    json.rawValue([&](raw_ostream &os) {
      bool single = static_cast<double>(static_cast<float>(value)) == value;
      os << format(single ? "%.9g" : "%.17g", value);
    });
  json.attributeEnd();
}

bool StepMetrics::changedNothing() const {
  return skipped && all_of(others, [](const auto &other) {
           return !StringRef(other.first).starts_with("skipped.") ||
                  other.second != 0;
         });
}

std::string toJson(const StepMetrics &metrics) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  json.object([&] {
    json.attribute("step", metrics.step);
    number(json, "loss", metrics.loss);
    number(json, "scale", metrics.scale);
    json.attribute("skipped", metrics.skipped);
    number(json, "lr", metrics.lr);
    number(json, "grad_norm", metrics.gradNorm);
    number(json, "samples_per_second",
           static_cast<float>(metrics.samplesPerSecond));
    for (auto &[name, value] : metrics.others)
      number(json, name, value);
    if (!metrics.nonFinite.empty())
      json.attribute("non_finite", validUtf8(metrics.nonFinite));
  });
  return text;
}

std::string toJson(ArrayRef<std::pair<StringLiteral, int64_t>> counts,
                   const NamedNumbers &numbers) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  json.object([&] {
    for (const auto &[name, value] : counts)
      json.attribute(name, value);
    for (const auto &[name, value] : numbers)
      number(json, name, value);
  });
  return text;
}

/// Length of the leading lines whose steps are at most `steps`; `last` is set
/// to the last of these steps.
static uint64_t lengthOfSteps(StringRef content, int64_t steps,
                              std::optional<int64_t> &last) {
  uint64_t length = 0;
  while (length < content.size()) {
    size_t end = content.find('\n', length);
    if (end == StringRef::npos)
      break;
    Expected<json::Value> value = parseJson(content.slice(length, end));
    if (!value) {
      consumeError(value.takeError());
      break;
    }
    const json::Object *object = value->getAsObject();
    std::optional<int64_t> step =
        object ? object->getInteger("step") : std::nullopt;
    if (!step || *step > steps)
      break;
    length = end + 1;
    last = step;
  }
  return length;
}

Expected<MetricsFile> MetricsFile::open(StringRef path, int64_t steps) {
  uint64_t keep = 0;
  std::optional<int64_t> last;
  // Only a regular file is certain to end.
  if (steps > 0 && sys::fs::is_regular_file(path))
    if (auto old = MemoryBuffer::getFile(path, /*IsText=*/false,
                                         /*RequiresNullTerminator=*/false))
      keep = lengthOfSteps((*old)->getBuffer(), steps, last);
  Expected<OutputFile> file = OutputFile::append(path, keep);
  if (!file)
    return file.takeError();
  return MetricsFile(std::move(*file), last);
}

void MetricsFile::add(int64_t step, StringRef object) {
  pending += object.str() + "\n";
  last = step;
}

Error MetricsFile::flush() {
  if (Error error = file.writeWhole(pending))
    return error;
  pending.clear();
  return Error::success();
}

std::string toJson(const Summary &summary) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os, /*IndentSize=*/2);
  double accuracy = NAN;
  for (auto &[name, value] : summary.test)
    if (name == "accuracy")
      accuracy = value;
  json.object([&] {
    number(json, "train_loss", summary.trainLoss.value_or(NAN));
    number(json, "test_accuracy", accuracy);
    for (auto &[name, value] : summary.test)
      if (name != "accuracy")
        number(json, "test_" + name, value);
    json.attribute("steps", summary.steps);
    json.attribute("skipped_steps", summary.skippedSteps);
    if (summary.bestStep) {
      json.attribute("monitor", summary.monitor);
      number(json, "best_score", summary.bestScore);
      json.attribute("best_step", summary.bestStep);
    }
    if (!summary.stopped.empty())
      json.attribute("stopped", summary.stopped);
    number(json, "final_scale", summary.finalScale);
    number(json, "compile_seconds", static_cast<float>(summary.compileSeconds));
    if (summary.kernelCacheHits || summary.kernelCacheMisses) {
      json.attribute("kernel_cache_hits", summary.kernelCacheHits);
      json.attribute("kernel_cache_misses", summary.kernelCacheMisses);
      number(json, "kernel_compile_seconds",
             static_cast<float>(summary.kernelCompileSeconds));
    }
    number(json, "train_seconds", static_cast<float>(summary.trainSeconds));
    number(json, "data_wait_seconds",
           static_cast<float>(summary.dataWaitSeconds));
    json.attribute("planned_bytes", summary.plannedBytes);
    json.attribute("peak_rss_bytes", summary.peakRssBytes);
    auto text = [&](StringRef key, StringRef value) {
      if (!value.empty())
        json.attribute(key, validUtf8(value));
    };
    text("module", summary.module);
    text("file", summary.file);
    text("recipe", summary.recipe);
    text("precision", summary.precision);
    text("policy", summary.policy);
    text("insert_passes", summary.insertPasses);
    text("scaler", summary.scaler);
    text("device", summary.device);
    json.attribute("batch", summary.batch);
    json.attribute("accumulate", summary.accumulate);
    if (!summary.buckets.empty())
      json.attributeArray("buckets", [&] {
        for (const LengthBucket &bucket : summary.buckets)
          json.object([&] {
            json.attribute("tokens", bucket.length);
            json.attribute("samples", bucket.samples);
            json.attribute("batches", bucket.batches);
            json.attribute("padding_tokens", bucket.padding());
          });
      });
    if (!summary.settings.empty())
      json.attributeObject("settings", [&] {
        for (const auto &[name, value] : summary.settings)
          text(name, value);
      });
    json.attribute("seed", summary.seed);
  });
  os << "\n";
  return text;
}

std::string toJson(const Profile &profile) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    number(json, "copy_gbps", static_cast<float>(profile.copyGbps));
    json.attribute("graph_nodes", profile.graphNodes);
    number(json, "host_microseconds",
           static_cast<float>(profile.hostMicroseconds));
    json.attributeArray("launches", [&] {
      for (const StepCost &cost : profile.launches)
        json.object([&] {
          json.attribute("kernel", cost.kernel);
          json.attribute("summary", cost.summary);
          number(json, "microseconds", static_cast<float>(cost.microseconds));
          json.attribute("bytes", cost.bytes);
          json.attribute("flops", cost.flops);
          json.attributeArray("sources", [&] {
            for (const Location &source : cost.sources)
              if (std::string place = source.str(); !place.empty())
                json.value(place);
          });
        });
    });
  });
  os << "\n";
  return text;
}

uint64_t peakRssBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024; // given in KiB
}

} // namespace mp
