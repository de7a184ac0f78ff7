//===- Ledger.cpp - how f16 rounds each gradient --------------------------===//
#include "runtime/numerics/Ledger.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "support/Json.h"
#include "support/ShellWord.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;

namespace mp {

std::string GradientStatistics::str() const { return origin + at(source); }

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// Parses "gradient.LOSS.NUMBER.RESULT", a name of mp-expose-values.
static GradientStatistics describe(const Result &result) {
  GradientStatistics gradient;
  auto [loss, value] = StringRef(result.name).split('.').second.split('.');
  auto [number, place] = value.split('.');
  loss.getAsInteger(10, gradient.loss);
  number.getAsInteger(10, gradient.number);
  place.getAsInteger(10, gradient.result);
  gradient.origin = result.origin;
  gradient.source = result.location;
  gradient.name = result.name;
  return gradient;
}

static void count(const Result &result, const void *bytes, double scale,
                  int headroom, GradientStatistics &gradient) {
  auto *data = static_cast<const char *>(bytes);
  for (int64_t i = 0, n = result.type.elements(); i < n; ++i) {
    double element = loadElement(result.type.element,
                                 data + i * byteWidth(result.type.element));
    gradient.magnitudes.add(element);
    // A double represents every product of two f32 numbers exactly.
    if (element != 0 && std::isfinite(element))
      ++gradient.scaled[fateInHalf(std::abs(element) * scale, headroom)];
  }
}

Expected<Executable::Results>
Ledger::add(Executable &executable, Executable::Inputs inputs, int64_t rows) {
  ArrayRef<Result> entry = executable.entry().results;
  if (gradients.empty())
    for (const Result &result : entry)
      gradients.push_back(describe(result));
  auto results = executable.run(inputs, Executable::Ranges::Known);
  if (!results)
    return results.takeError();
  for (size_t i = 0; i < entry.size(); ++i)
    count(entry[i], (*results)[i].data(), scale, headroom, gradients[i]);
  samples += rows;
  return results;
}

GradientStatistics Ledger::all() const {
  GradientStatistics all;
  for (const GradientStatistics &gradient : gradients) {
    all.magnitudes.add(gradient.magnitudes);
    all.scaled.add(gradient.scaled);
  }
  return all;
}

const GradientStatistics &Ledger::largest() const {
  return *llvm::max_element(gradients, [](auto &one, auto &other) {
    return one.magnitudes.largest < other.magnitudes.largest;
  });
}

const GradientStatistics &Ledger::mostFlushed() const {
  return *llvm::max_element(gradients, [](auto &one, auto &other) {
    return one.scaled.share(Fate::Flushed) < other.scaled.share(Fate::Flushed);
  });
}

size_t Ledger::lostAt(int exponent) const {
  return count_if(gradients, [&](const GradientStatistics &gradient) {
    HalfCounts counts = gradient.magnitudes.inHalf(exponent, headroom);
    return counts.share(Fate::Flushed) > 0.5;
  });
}

bool Ledger::underflows() const {
  constexpr double few = 0.03;
  return all().scaled.share(Fate::Flushed) > few ||
         mostFlushed().scaled.share(Fate::Flushed) > 0.5;
}

//===----------------------------------------------------------------------===//
// Advice
//===----------------------------------------------------------------------===//

int chooseExponent(double largest, int headroom) {
  // mostHalf is the exponent of 65504; most keeps the scale and its inverse
  // normal f32 numbers.
  constexpr int mostHalf = 15, most = 126;
  int exponent = mostHalf - std::ilogb(largest) - headroom;
  if (std::ldexp(largest, exponent + headroom) >= 65504)
    --exponent;
  return std::clamp(exponent, -most, most);
}

std::string staticScaler(int exponent) {
  std::string text;
  raw_string_ostream(text) << "static:"
                           << format("%.17g", std::ldexp(1.0, exponent));
  return text;
}

/// "nothing", or "12 elements (0.3%)", as a share of those that are finite and
/// not zero.
static std::string some(const HalfCounts &counts, Fate fate) {
  if (!counts[fate])
    return "nothing";
  std::string text;
  raw_string_ostream(text) << counts[fate]
                           << (counts[fate] == 1 ? " element (" : " elements (")
                           << format("%.2g%%)", 100 * counts.share(fate));
  return text;
}

/// "flushes nothing to zero and leaves 12 elements (0.3%) subnormal"
static std::string losses(const HalfCounts &counts) {
  return "flushes " + some(counts, Fate::Flushed) + " to zero and leaves " +
         some(counts, Fate::Subnormal) + " subnormal";
}

/// Sets the scale if one can be advised, else says why none can.
static void choose(const Magnitudes &magnitudes, int headroom, Advice &advice) {
  if (magnitudes.nonFinite) {
    advice.text = formatv("{0} of {1} elements are infinite or NaN without any "
                          "scale: no loss scale mends this",
                          magnitudes.nonFinite, magnitudes.elements());
  } else if (magnitudes.largest == 0) {
    advice.text = "all elements are zero";
  } else {
    advice.exponent = chooseExponent(magnitudes.largest, headroom);
    advice.counts = magnitudes.inHalf(*advice.exponent, headroom);
  }
}

Advice advise(const GradientStatistics &gradient, int headroom) {
  Advice advice;
  choose(gradient.magnitudes, headroom, advice);
  if (!advice.exponent)
    return advice;
  std::string scale = "2^" + std::to_string(*advice.exponent);
  if (advice.counts[Fate::Flushed] == 0)
    advice.text =
        formatv("{0} suits: f16 {1} there", scale, losses(advice.counts));
  else
    advice.text = formatv(
        "no scale fixes it: its elements reach from 2^{0} to 2^{1}; at {2}, "
        "the largest scale with a headroom of 2^{3}, f16 still {4}",
        gradient.magnitudes.exponents().front().first,
        std::ilogb(gradient.magnitudes.largest), scale, headroom,
        losses(advice.counts));
  return advice;
}

Advice advise(const Ledger &ledger, const ScalesFile &scales) {
  Advice advice;
  Magnitudes all = ledger.all().magnitudes;
  choose(all, ledger.headroom, advice);
  if (!advice.exponent)
    return advice;
  std::string scale = "2^" + std::to_string(*advice.exponent);
  size_t lost = ledger.lostAt(*advice.exponent);
  if (!lost) {
    advice.options = "--scaler " + staticScaler(*advice.exponent);
    advice.text =
        formatv("train with {0}, at which f16 {1}, and all may grow "
                "by 2^{2}",
                advice.options, losses(advice.counts), ledger.headroom);
    return advice;
  }
  advice.options = "--scaler static:1 --scales " + shellWord(scales.path);
  advice.command = scales.command;
  advice.text =
      formatv("no one scale suits all gradients: at {0} {1} of {2} become zero "
              "all the same, more than half of each; {3}train with {4}, which "
              "gives each gradient a scale of its own",
              scale, lost, ledger.gradients.size(),
              advice.command.empty() ? "" : "run " + advice.command + ", then ",
              advice.options);
  return advice;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeText(json::OStream &json, StringRef key, StringRef value) {
  json.attribute(key, validUtf8(value));
}

static void writeCounts(json::OStream &json,
                        const GradientStatistics &gradient) {
  const Magnitudes &magnitudes = gradient.magnitudes;
  const HalfCounts &scaled = gradient.scaled;
  json.attribute("elements", magnitudes.elements());
  json.attribute("zero", magnitudes.zeros);
  json.attribute("flushed", scaled[Fate::Flushed]);
  json.attribute("subnormal", scaled[Fate::Subnormal]);
  json.attribute("normal", scaled[Fate::Normal]);
  json.attribute("near_overflow", scaled[Fate::NearOverflow]);
  json.attribute("overflow", scaled[Fate::Overflow]);
  json.attribute("nonfinite", magnitudes.nonFinite);
  json.attribute("largest", magnitudes.largest);
  json.attributeObject("exponents", [&] {
    for (auto [exponent, count] : magnitudes.exponents())
      json.attribute(std::to_string(exponent), count);
  });
}

void writeAdvice(json::OStream &json, const Advice &advice) {
  json.attributeObject("advice", [&] {
    if (advice.exponent)
      json.attribute("scale", std::ldexp(1.0, *advice.exponent));
    else
      json.attribute("scale", nullptr);
    json.attribute("flushed", advice.counts[Fate::Flushed]);
    json.attribute("subnormal", advice.counts[Fate::Subnormal]);
    writeText(json, "text", advice.text);
    if (!advice.options.empty())
      writeText(json, "options", advice.options);
    if (!advice.command.empty())
      writeText(json, "command", advice.command);
  });
}

void writeGradients(json::OStream &json, const Ledger &ledger) {
  json.attributeArray("gradients", [&] {
    for (const GradientStatistics &gradient : ledger.gradients)
      json.object([&] {
        writeText(json, "of", gradient.origin);
        writeText(json, "source", gradient.source.str());
        json.attribute("loss", gradient.loss);
        json.attribute("number", gradient.number);
        json.attribute("result", gradient.result);
        json.attribute("tensor", gradient.name);
        json.attribute("type", "f16");
        writeCounts(json, gradient);
        writeAdvice(json, advise(gradient, ledger.headroom));
      });
  });
  json.attributeObject("all", [&] { writeCounts(json, ledger.all()); });
}

std::string toJson(const Ledger &ledger, int64_t step, const Advice &advice) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  json.object([&] {
    json.attribute("step", step);
    json.attribute("scale", ledger.scale);
    json.attribute("headroom", ledger.headroom);
    json.attribute("records", ledger.samples);
    writeGradients(json, ledger);
    writeAdvice(json, advice);
  });
  return text;
}

} // namespace mp
