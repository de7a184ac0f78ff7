//===- Text.cpp - results of a comparison as text -------------------------===//
#include "precision/compare/Comparison.h"
#include "runtime/Profile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace mp::precision {
namespace {

/// A table is 120 columns wide.
constexpr size_t kSidesAbreast = 2;

std::string scientific(double value) {
  if (value == 0)
    return "0";
  return std::isfinite(value) ? formatv("{0:e1}", value).str() : "inf";
}

/// "3.1e-04", "non-fin".
std::string shown(const Difference &difference) {
  return difference.nonFinite ? "non-fin" : scientific(difference.error);
}

/// Returns "3.1e-04", with a mark if it is beyond the tolerance.
std::string shown(const std::optional<Difference> &difference) {
  if (!difference)
    return "-  ";
  return shown(*difference) + (difference->beyond ? " !" : "  ");
}

std::string shortName(const OpFacts &op) {
  StringRef name = op.name;
  name.consume_front("mp.");
  std::string text =
      name.str() + (op.variable.empty() ? "" : " @") + op.variable;
  constexpr size_t most = 22;
  return text.size() <= most ? text : text.substr(0, most - 1) + "~";
}

std::string lineOf(const Location &source) {
  if (!source.line)
    return "-";
  std::string text = formatv("{0}:{1}", source.line, source.column);
  if (!source.timeSteps.empty())
    text += " in " + textOfTimeSteps(source.timeSteps);
  return text;
}

class Printer {
public:
  Printer(const Comparison &comparison, const DiffOptions &options)
      : comparison(comparison), sides(comparison.sides), options(options),
        os(text) {
    for (const auto &[number, op] : sides.front().variant.ops)
      if (op.yieldsFloats)
        places = std::max(places, lineOf(op.source).size());
  }

  std::string print() {
    os << formatv("{0}: @{1}, batch {2}, {3}, on {4} ({5})\n",
                  comparison.subject.filename, comparison.subject.function,
                  options.batch,
                  options.data.empty() ? "random inputs" : options.data.c_str(),
                  comparison.device, comparison.where);
    for (size_t begin = 0; begin < sides.size(); begin += kSidesAbreast)
      printTable(sides.drop_front(begin).take_front(kSidesAbreast));
    printTotals();
    for (const Side &side : sides)
      printFirst(side);
    return text;
  }

private:
  /// Whether an op gets a row: it runs in another type, has another error, or
  /// one beyond the tolerance.
  bool isWorthARow(int64_t op) const {
    const Side &first = sides.front();
    for (const Side &side : sides) {
      const OpDifference *difference = find(side, op);
      if (side.variant.ops.at(op).type != first.variant.ops.at(op).type ||
          difference->value != find(first, op)->value ||
          difference->gradient != find(first, op)->gradient ||
          isBeyond(difference->value) || isBeyond(difference->gradient))
        return true;
    }
    return false;
  }

  static bool isBeyond(const std::optional<Difference> &difference) {
    return difference && difference->beyond;
  }

  static const OpDifference *find(const Side &side, int64_t op) {
    static const OpDifference none;
    auto found = side.differences.find(op);
    return found == side.differences.end() ? &none : &found->second;
  }

  void printTable(ArrayRef<Side> abreast) {
    os << "\n" << std::string(29 + places, ' ');
    for (const Side &side : abreast)
      os << formatv("| {0,-38}", side.setting.title);
    os << formatv("\n{0,4} {1,-22} ", "#", "op") << left_justify("line", places)
       << " ";
    for (size_t i = 0; i < abreast.size(); ++i)
      os << formatv("| {0,-5}{1,-9}{2,5} {3,8} {4,9} ", "type", "category",
                    "casts", "error", "gradient");
    os << "\n";
    size_t leftOut = 0;
    for (const auto &[number, op] : sides.front().variant.ops) {
      if (!op.yieldsFloats)
        continue;
      if (!options.all && !isWorthARow(number)) {
        ++leftOut;
        continue;
      }
      os << formatv("{0,4} {1,-22} ", number, shortName(op))
         << left_justify(lineOf(op.source), places) << " ";
      for (const Side &side : abreast)
        printCells(side, number);
      os << "\n";
    }
    if (leftOut)
      os << formatv("{0} more ops have one type and one error under all "
                    "policies: --all prints them\n",
                    leftOut);
  }

  void printCells(const Side &side, int64_t number) {
    const OpFacts &op = side.variant.ops.at(number);
    const OpDifference *difference = find(side, number);
    StringRef type = op.type;
    os << formatv("| {0,-5}{1,-9}{2,5} {3,9}{4,9}",
                  type.starts_with("f8") ? StringRef("fp8") : type, op.category,
                  op.casts.empty() ? "" : std::to_string(op.casts.size()),
                  shown(difference->value), shown(difference->gradient));
  }

  void row(StringRef name, function_ref<std::string(const Side &)> cell) {
    os << formatv("{0,-24}", name);
    for (const Side &side : sides)
      os << formatv(" {0,16}", cell(side));
    os << "\n";
  }

  void printTotals() {
    os << "\n";
    row("", [](const Side &side) { return side.setting.title; });
    row("tolerance",
        [](const Side &side) { return scientific(side.tolerance); });
    if (!comparison.subject.recipe.empty())
      row("loss scale", [](const Side &side) {
        return formatv("{0:f0}", side.variant.scale).str();
      });
    row("casts",
        [](const Side &side) { return std::to_string(side.variant.casts); });
    row("KiB of casts", [](const Side &side) {
      return formatv("{0:f1}", side.variant.castBytes / 1024.0).str();
    });
    if (!comparison.subject.recipe.empty()) {
      row("casts of a step", [](const Side &side) {
        return std::to_string(side.variant.stepCasts);
      });
      row("KiB of them", [](const Side &side) {
        return formatv("{0:f1}", side.variant.stepCastBytes / 1024.0).str();
      });
    }
    if (options.steps == 0)
      return;
    std::string what = comparison.subject.recipe.empty() ? "function" : "step";
    auto told = [](auto cell) {
      return [cell](const Side &side) -> std::string {
        return side.step.whyNot.empty() ? cell(side) : "-";
      };
    };
    row("launches of a " + what, told([](const Side &side) {
          return std::to_string(side.step.kernels);
        }));
    row("KiB of launches", told([](const Side &side) {
          return formatv("{0:f1}", side.step.bytes / 1024.0).str();
        }));
    row(what + ", median us", told([](const Side &side) {
          return formatv("{0:f1}", median(side.step.microseconds)).str();
        }));
    const StepFacts &first = sides.front().step;
    double base = first.whyNot.empty() ? median(first.microseconds) : 0;
    row("relative to the first", told([&](const Side &side) -> std::string {
          if (base <= 0)
            return "-";
          return formatv("{0:f2}", median(side.step.microseconds) / base).str();
        }));
    if (llvm::any_of(sides,
                     [](const Side &side) { return side.step.skipped > 0; }))
      row("steps skipped", told([](const Side &side) {
            return formatv("{0} of {1}", side.step.skipped,
                           side.step.skipped + side.step.microseconds.size())
                .str();
          }));
  }

  //===--------------------------------------------------------------------===//
  // First op beyond the tolerance
  //===--------------------------------------------------------------------===//

  void printFirst(const Side &side) {
    os << "\n";
    if (!side.step.whyNot.empty())
      os << formatv("{0}: no step: {1}\n", side.setting.title,
                    side.step.whyNot);
    if (side.settled)
      os << formatv("{0}: {1}\n", side.setting.title, toText(*side.settled));
    int64_t value = side.firstBeyond(), gradient = side.firstGradientBeyond();
    if (!value && !gradient)
      os << formatv("{0}: every op is within the tolerance\n",
                    side.setting.title);
    if (value) {
      printOp(side, "first beyond the tolerance", value,
              *find(side, value)->value);
      printInherited(side, "computed from", side.variant.ops.at(value).operands,
                     [](const OpDifference &op) { return op.value; });
      for (const CastFact &cast : side.variant.ops.at(value).casts)
        os << formatv("  operand {0} is cast from {1} to {2}\n", cast.operand,
                      cast.from, cast.to);
    }
    if (gradient) {
      printOp(side, "first gradient beyond it (going backward)", gradient,
              *find(side, gradient)->gradient);
      printInherited(side, "computed from the gradients of", usersOf(gradient),
                     [](const OpDifference &op) { return op.gradient; });
    }
  }

  void printOp(const Side &side, StringRef what, int64_t number,
               const Difference &difference) {
    const OpFacts &op = side.variant.ops.at(number);
    os << formatv("{0}: {1}: #{2} {3}", side.setting.title, what, number,
                  op.name);
    if (difference.nonFinite)
      os << formatv(", infinite or NaN in {0} of {1} elements",
                    difference.nonFinite, difference.elements);
    if (uint64_t finite = difference.beyond - difference.nonFinite)
      os << formatv(", error {0}, {1} of {2} elements beyond",
                    scientific(difference.error), finite, difference.elements);
    if (std::string place = op.source.str(); !place.empty())
      os << "\n  " << place;
    if (StringRef line = comparison.subject.line(op.source); !line.empty())
      os << ": " << line;
    os << "\n";
  }

  void printInherited(
      const Side &side, StringRef what, ArrayRef<int64_t> ops,
      function_ref<std::optional<Difference>(const OpDifference &)> of) {
    std::string list;
    for (int64_t number : ops) {
      std::optional<Difference> difference = of(*find(side, number));
      if (!difference)
        continue;
      const OpFacts &op = side.variant.ops.at(number);
      list += formatv("{0}#{1} {2} {3}", list.empty() ? "" : ", ", number,
                      shortName(op), shown(*difference))
                  .str();
    }
    if (!list.empty())
      os << "  " << what << " " << list << "\n";
  }

  std::vector<int64_t> usersOf(int64_t number) const {
    std::vector<int64_t> users;
    for (const auto &[user, op] : sides.front().variant.ops)
      if (llvm::is_contained(op.operands, number))
        users.push_back(user);
    return users;
  }

  const Comparison &comparison;
  ArrayRef<Side> sides;
  const DiffOptions &options;
  size_t places = 10; ///< width of the column of lines
  std::string text;
  raw_string_ostream os;
};

} // namespace

std::string toText(const Comparison &comparison, const DiffOptions &options) {
  std::string padded = Printer(comparison, options).print(), text;
  for (StringRef rest = padded; !rest.empty();) {
    auto [line, others] = rest.split('\n');
    text += (line.rtrim() + "\n").str();
    rest = others;
  }
  return text;
}

} // namespace mp::precision
