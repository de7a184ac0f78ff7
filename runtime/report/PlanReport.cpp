//===- PlanReport.cpp - the memory plan of a Program ----------------------===//
#include "runtime/report/PlanReport.h"
#include "runtime/Memory.h"
#include "support/Error.h"
#include "support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace mp {

std::string amountOf(uint64_t bytes) {
  const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = bytes;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  std::string text;
  raw_string_ostream(text) << format(unit ? "%.1f " : "%.0f ", value)
                           << units[unit];
  return text;
}

uint64_t PlanReport::bytes(StringRef name) const {
  for (const Line &line : lines)
    if (line.name == name)
      return line.bytes;
  return 0;
}

uint64_t PlanReport::total() const {
  uint64_t total = 0;
  for (const Line &line : lines)
    total += line.bytes;
  return total;
}

namespace {

/// Whether a 16-bit working copy is derived from the parameter; its name is the
/// parameter's and a type (dialect: derivedName).
bool hasCopy(const Program &program, const Variable &parameter) {
  return any_of(program.variables, [&](const Variable &other) {
    return other.kind == VariableKind::Derived &&
           other.type.shape == parameter.type.shape &&
           StringRef(other.name).rsplit('.').first == parameter.name;
  });
}

StringRef lineOf(const Program &program, const Variable &variable) {
  switch (variable.kind) {
  case VariableKind::Parameter:
    return hasCopy(program, variable) ? "masters" : "weights";
  case VariableKind::Buffer:
    return "buffers";
  case VariableKind::Slot:
    return "slots";
  case VariableKind::Scaler:
  case VariableKind::Attempt:
    return "scaler";
  case VariableKind::Derived:
    return "derived";
  case VariableKind::Window:
    return "windows";
  }
  llvm_unreachable("all kinds are handled");
}

const Entry *hungriest(const Program &program) {
  const Entry *found = nullptr;
  for (const Entry &entry : program.entries)
    if (!found || entry.arenaBytes > found->arenaBytes)
      found = &entry;
  return found;
}

PlanReport::Peak findPeak(const Program &program, const Entry &entry) {
  std::vector<uint64_t> alive(entry.steps.size() + 1);
  for (const Buffer &buffer : entry.buffers)
    for (uint32_t step = buffer.firstStep; step <= buffer.lastStep; ++step)
      alive[step] += alignToTensor(buffer.bytes);
  PlanReport::Peak peak;
  peak.function = entry.function;
  peak.steps = entry.steps.size();
  peak.step = max_element(alive) - alive.begin();
  peak.bytes = alive[peak.step];
  for (const Buffer &buffer : entry.buffers)
    if (buffer.firstStep <= peak.step && peak.step <= buffer.lastStep)
      peak.alive.push_back(buffer);
  llvm::sort(peak.alive, [](const Buffer &a, const Buffer &b) {
    return std::tie(b.bytes, a.offset) < std::tie(a.bytes, b.offset);
  });
  if (peak.step >= entry.steps.size())
    return peak;
  const Step &step = entry.steps[peak.step];
  if (const auto *launch = std::get_if<Launch>(&step)) {
    const Kernel &kernel = program.kernels[launch->kernel];
    peak.summary = kernel.summary;
    if (!kernel.sources.empty())
      peak.location = kernel.sources.front();
  } else {
    const auto *call = std::get_if<Call>(&step);
    peak.summary = call                                   ? call->routine
                   : std::holds_alternative<Repeat>(step) ? "repeat"
                                                          : "copy";
  }
  // A library routine has no source location; take that of its result.
  if (!peak.location.line)
    for (const Buffer &buffer : peak.alive)
      if (buffer.firstStep == peak.step && buffer.location.line) {
        peak.location = buffer.location;
        break;
      }
  return peak;
}

/// Returns the kernel of the first of some steps that launches one.
const Kernel *firstKernel(const Program &program, ArrayRef<Step> steps) {
  for (const Step &step : steps)
    if (const auto *launch = std::get_if<Launch>(&step))
      return &program.kernels[launch->kernel];
  return nullptr;
}

std::vector<PlanReport::Loop> findLoops(const Program &program,
                                        const Entry &entry) {
  std::vector<PlanReport::Loop> loops;
  for (auto [i, step] : enumerate(entry.steps)) {
    const auto *launch = std::get_if<Launch>(&step);
    const auto *repeat = std::get_if<Repeat>(&step);
    if (!repeat && !(launch && launch->cooperative))
      continue;
    PlanReport::Loop &loop = loops.emplace_back();
    auto steps = ArrayRef(entry.steps).drop_front(i);
    if (repeat) {
      loop.rounds = repeat->rounds;
      loop.steps = repeat->steps;
      steps = steps.slice(1, repeat->steps);
    }
    if (const Kernel *kernel = firstKernel(program, steps)) {
      loop.summary = kernel->summary;
      if (!kernel->sources.empty())
        loop.location = kernel->sources.front();
    }
  }
  return loops;
}

uint64_t inputBytes(const Program &program) {
  uint64_t most = 0;
  for (const Entry &entry : program.entries) {
    uint64_t bytes = 0;
    for (const Input &input : entry.inputs)
      bytes += alignToTensor(input.type.bytes());
    most = std::max(most, bytes);
  }
  return most;
}

/// Scratch of the CPU's workers. That of a device is in its multiprocessors.
uint64_t scratchBytes(const Program &program, unsigned threads) {
  constexpr uint64_t page = 4096;
  uint64_t most = 0;
  if (program.target == "cpu")
    for (const Entry &entry : program.entries)
      for (const Step &step : entry.steps)
        if (const auto *launch = std::get_if<Launch>(&step))
          most = std::max(most, launch->shared);
  return alignTo(most, page) * threads;
}

} // namespace

PlanReport reportPlan(const Program &program, unsigned threads) {
  PlanReport report;
  report.module = program.module;
  report.target = program.target;
  report.arch = program.arch;
  report.precision = program.precision;
  report.lines = {
      {"weights", "parameters that are used as they are"},
      {"masters", "parameters in f32 with a 16-bit copy"},
      {"derived", "16-bit copies, and bounds"},
      {"slots", "state of the optimizer"},
      {"buffers", "state without a gradient"},
      {"scaler", "loss scale and counts"},
      {"windows", "sums of gradients over micro-batches"},
      {"constants", "tensors in the graph"},
      {"activations", "the arena: all values between kernels"},
      {"workspace", "scratch of " + std::to_string(threads) + " workers"},
      {"staging", "two batches of inputs"}};
  auto add = [&](StringRef name, uint64_t bytes, uint64_t count) {
    auto line = find_if(report.lines,
                        [&](const auto &line) { return line.name == name; });
    line->bytes += bytes;
    line->count += count;
  };
  for (const Variable &variable : program.variables)
    add(lineOf(program, variable), alignToTensor(variable.type.bytes()), 1);
  for (const Constant &constant : program.constants)
    add("constants", alignToTensor(constant.bytes.size()), 1);
  add("workspace", scratchBytes(program, threads), 0);
  add("staging", 2 * inputBytes(program), 0);
  if (const Entry *entry = hungriest(program)) {
    add("activations", entry->arenaBytes, entry->buffers.size());
    report.peak = findPeak(program, *entry);
    report.loops = findLoops(program, *entry);
  }
  return report;
}

static std::string rowOf(StringRef name, uint64_t bytes, StringRef rest) {
  std::string row =
      formatv("  {0,-12} {1,12}  {2}", name, amountOf(bytes), rest);
  return StringRef(row).rtrim().str() + "\n";
}

std::string PlanReport::Loop::form() const {
  if (rounds == 0)
    return "one kernel";
  return formatv("{0} rounds of {1} steps", rounds, steps);
}

static void printLoops(raw_ostream &os, const PlanReport &report, size_t most) {
  if (report.loops.empty())
    return;
  os << "loops of '" << report.peak.function << "'\n";
  for (const PlanReport::Loop &loop : ArrayRef(report.loops).take_front(most))
    os << "  " << loop.form() << ": " << loop.summary << at(loop.location)
       << "\n";
  if (report.loops.size() > most)
    os << "  and " << report.loops.size() - most << " more\n";
}

std::string tableOf(const PlanReport &report) {
  std::string text;
  for (const PlanReport::Line &line : report.lines)
    if (line.bytes)
      text +=
          rowOf(line.name, line.bytes,
                (line.count ? std::to_string(line.count) + " tensors: " : "") +
                    line.note);
  return text + rowOf("total", report.total(), "");
}

std::string toText(const PlanReport &report, size_t most) {
  std::string text;
  raw_string_ostream os(text);
  os << report.module << " on " << report.target << " (" << report.arch << ")"
     << (report.precision.empty() ? "" : ", ") << report.precision
     << (report.policy.empty() ? "" : ", policy ") << report.policy << "\n";
  os << tableOf(report);
  printLoops(os, report, most);
  const PlanReport::Peak &peak = report.peak;
  if (peak.alive.empty())
    return text;
  os << "peak of the arena: " << amountOf(peak.bytes) << " in step "
     << peak.step + 1 << " of " << peak.steps << " of '" << peak.function
     << "', " << peak.summary << at(peak.location) << "\n";
  // Small values such as flags are many and not worth listing.
  ArrayRef<Buffer> large = ArrayRef(peak.alive).take_front(most);
  large = large.take_while(
      [&](const Buffer &value) { return value.bytes >= peak.bytes / 1000; });
  for (const Buffer &value : large)
    os << rowOf("", value.bytes,
                formatv("{0}{1}, steps {2} to {3}", value.summary,
                        at(value.location), value.firstStep + 1,
                        value.lastStep + 1)
                    .str());
  if (peak.alive.size() > large.size())
    os << "  and " << peak.alive.size() - large.size() << " smaller ones\n";
  return text;
}

std::string toJson(const PlanReport &report) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os, /*IndentSize=*/2);
  auto attribute = [&](StringRef key, StringRef value) {
    json.attribute(key, validUtf8(value));
  };
  json.object([&] {
    attribute("module", report.module);
    attribute("target", report.target);
    attribute("arch", report.arch);
    attribute("precision", report.precision);
    if (!report.policy.empty())
      attribute("policy", report.policy);
    json.attributeObject("bytes", [&] {
      for (const PlanReport::Line &line : report.lines)
        json.attribute(line.name, line.bytes);
      json.attribute("total", report.total());
    });
    json.attributeObject("notes", [&] {
      for (const PlanReport::Line &line : report.lines)
        json.attribute(line.name, line.note);
    });
    json.attributeObject("peak", [&] {
      const PlanReport::Peak &peak = report.peak;
      attribute("function", peak.function);
      json.attribute("step", peak.step);
      json.attribute("steps", peak.steps);
      json.attribute("bytes", peak.bytes);
      attribute("summary", peak.summary);
      attribute("source", peak.location.str());
      json.attributeArray("values", [&] {
        for (const Buffer &value : peak.alive)
          json.object([&] {
            json.attribute("bytes", value.bytes);
            attribute("summary", value.summary);
            attribute("source", value.location.str());
            json.attribute("first_step", value.firstStep);
            json.attribute("last_step", value.lastStep);
          });
      });
    });
    json.attributeArray("loops", [&] {
      for (const PlanReport::Loop &loop : report.loops)
        json.object([&] {
          json.attribute("kernel", loop.rounds == 0);
          if (loop.rounds) {
            json.attribute("rounds", loop.rounds);
            json.attribute("steps", loop.steps);
          }
          attribute("summary", loop.summary);
          attribute("source", loop.location.str());
        });
    });
  });
  os << "\n";
  return text;
}

} // namespace mp
