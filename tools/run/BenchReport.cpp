//===- BenchReport.cpp - results of mp-run bench --------------------------===//
#include "tools/run/BenchReport.h"
#include "support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace mp::tool {

double quantile(std::vector<double> values, double share) {
  if (values.empty())
    return 0;
  llvm::sort(values);
  double rank = std::ceil(share * values.size());
  return values[std::min<size_t>(std::max(rank - 1, 0.0), values.size() - 1)];
}

Roofline rooflineOf(const BenchReport &report, const StepCost &cost) {
  double memory = report.profile.copyGbps > 0
                      ? cost.bytes / report.profile.copyGbps / 1e3
                      : 0;
  double peak = report.arithmetic == "bf16" ? report.peakBF16 : report.peakF32;
  double arithmetic = peak > 0 ? cost.flops / peak / 1e3 : 0;
  return {std::max(memory, arithmetic), memory >= arithmetic};
}

/// Returns a rate in 1e9 units per second.
static double rate(uint64_t amount, double microseconds) {
  return microseconds > 0 ? amount / microseconds / 1e3 : 0;
}

namespace {
/// The launches of a step that run one kernel for one source location.
struct Row {
  StepCost cost;
  Roofline roofline;
};

std::vector<Row> rowsOf(const BenchReport &report) {
  std::vector<Row> rows;
  for (const StepCost &cost : report.profile.launches)
    rows.push_back({cost, rooflineOf(report, cost)});
  return rows;
}

struct Sum {
  double microseconds = 0, roofline = 0;
};

Sum sumOf(ArrayRef<Row> rows) {
  Sum sum;
  for (const Row &row : rows) {
    sum.microseconds += row.cost.microseconds;
    sum.roofline += row.roofline.microseconds;
  }
  return sum;
}

double share(double roofline, double microseconds) {
  return microseconds > 0 ? roofline / microseconds : 0;
}

/// The first op names of a kernel that has many.
std::string shortened(StringRef summary) {
  constexpr size_t most = 60;
  return summary.size() <= most ? summary.str()
                                : summary.take_front(most - 3).str() + "...";
}

std::string placeOf(const StepCost &cost) {
  for (const Location &source : cost.sources)
    if (std::string place = source.str(); !place.empty())
      return place;
  return "";
}
} // namespace

std::string toText(const BenchReport &report, size_t most) {
  std::string text;
  raw_string_ostream os(text);
  double middle = quantile(report.stepMicroseconds, 0.5);
  std::string micro = report.microBatches > 1
                          ? formatv(" times {0}", report.microBatches).str()
                          : "";
  os << formatv("{0}, batch {1}{2}, {3}{4}{5} on {6} ({7})\n", report.module,
                report.batch, micro, report.precision,
                report.policy.empty() ? "" : ", policy ", report.policy,
                report.device, report.where)
     << formatv("compiled in {0:f2} s: {1} kernels new ({2:f2} s), {3} from "
                "the cache\n",
                report.compileSeconds, report.kernels.misses,
                report.kernels.seconds, report.kernels.hits)
     << formatv("step: median {0:f1} us, p90 {1:f1} us, least {2:f1} us of {3} "
                "steps; {4:f0} samples/s\n",
                middle, quantile(report.stepMicroseconds, 0.9),
                quantile(report.stepMicroseconds, 0),
                report.stepMicroseconds.size(),
                middle > 0 ? report.batch * report.microBatches / middle * 1e6
                           : 0)
     << formatv("roofline: copy {0:f1} GB/s", report.profile.copyGbps);
  if (report.peakF32 > 0)
    os << formatv(", f32 {0:f0} GFLOP/s, bf16 {1:f0} GFLOP/s", report.peakF32,
                  report.peakBF16);
  std::vector<Row> rows = rowsOf(report);
  Sum all = sumOf(rows);
  os << formatv("; the {0} launches take {1:f1} us, {2:f2} of it\n",
                report.microBatches > 1 ? "update's and one micro-batch's"
                                        : "step's",
                all.microseconds, share(all.roofline, all.microseconds));
  if (report.skippedSteps)
    os << formatv("{0} of these steps were skipped for gradients that are not "
                  "finite: the update of one does nothing,\nand counts below "
                  "as if it did\n",
                  report.skippedSteps);
  os << formatv("{0,10} {1,10} {2,8} {3,10} {4,9} {5,6}  {6}\n", "us", "KiB",
                "GB/s", "MFLOP", "GFLOP/s", "share", "of");
  llvm::sort(rows, [](const Row &a, const Row &b) {
    return std::tie(b.cost.microseconds, a.cost.kernel) <
           std::tie(a.cost.microseconds, b.cost.kernel);
  });
  for (const auto &[cost, roofline] : ArrayRef(rows).take_front(most))
    os << formatv("{0,10:f1} {1,10:f1} {2,8:f1} {3,10:f2} {4,9:f1} {5,5:f2}{6} "
                  " {7} {8}\n",
                  cost.microseconds, cost.bytes / 1024.0,
                  rate(cost.bytes, cost.microseconds), cost.flops / 1e6,
                  rate(cost.flops, cost.microseconds),
                  share(roofline.microseconds, cost.microseconds),
                  roofline.byMemory ? "m" : "a", placeOf(cost),
                  shortened(cost.summary));
  if (rows.size() > most)
    os << formatv("  and {0} that took less\n", rows.size() - most);
  return text;
}

std::string toJson(const BenchReport &report) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os, /*IndentSize=*/2);
  auto name = [&](StringRef key, StringRef value) {
    json.attribute(key, validUtf8(value));
  };
  std::vector<Row> rows = rowsOf(report);
  Sum all = sumOf(rows);
  json.object([&] {
    name("module", report.module);
    name("device", report.device);
    name("where", report.where);
    name("arch", report.arch);
    name("precision", report.precision);
    if (!report.policy.empty())
      name("policy", report.policy);
    json.attribute("batch", report.batch);
    json.attribute("accumulate", report.microBatches);
    json.attribute("skipped_steps", report.skippedSteps);
    json.attribute("threads", report.threads);
    json.attribute("planned_bytes", report.plannedBytes);
    json.attribute("compile_seconds", report.compileSeconds);
    json.attribute("kernels_new", report.kernels.misses);
    json.attribute("kernels_cached", report.kernels.hits);
    json.attribute("kernel_compile_seconds", report.kernels.seconds);
    json.attribute("warmup", report.warmup);
    json.attributeObject("step_microseconds", [&] {
      json.attribute("median", quantile(report.stepMicroseconds, 0.5));
      json.attribute("p90", quantile(report.stepMicroseconds, 0.9));
      json.attribute("min", quantile(report.stepMicroseconds, 0));
      json.attributeArray("all", [&] {
        for (double time : report.stepMicroseconds)
          json.value(time);
      });
    });
    json.attribute("copy_gbps", report.profile.copyGbps);
    json.attribute("peak_f32_gflops", report.peakF32);
    json.attribute("peak_bf16_gflops", report.peakBF16);
    json.attribute("launches_microseconds", all.microseconds);
    json.attribute("share_of_roofline", share(all.roofline, all.microseconds));
    json.attributeArray("launches", [&] {
      for (const auto &[cost, roofline] : rows)
        json.object([&, &cost = cost, &roofline = roofline] {
          name("kernel", cost.kernel);
          name("summary", cost.summary);
          json.attributeArray("sources", [&] {
            for (const Location &source : cost.sources)
              if (std::string place = source.str(); !place.empty())
                json.value(validUtf8(place));
          });
          json.attribute("microseconds", cost.microseconds);
          json.attribute("bytes", cost.bytes);
          json.attribute("flops", cost.flops);
          json.attribute("bound", roofline.byMemory ? "memory" : "arithmetic");
          json.attribute("share_of_roofline",
                         share(roofline.microseconds, cost.microseconds));
        });
    });
  });
  os << "\n";
  return text;
}

} // namespace mp::tool
