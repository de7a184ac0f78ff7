//===- Recipe.cpp - recipes, data and initialisers as text ----------------===//
#include "dsl/Recipe.h"
#include "dsl/GraphState.h"
#include "program/PrecisionName.h"
#include "support/Number.h"
#include "support/Permutation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace mantissa {

/// A number as MLIR reads it: with a point.
static std::string numberText(double value) {
  std::string text = mp::shortestDecimal(value);
  if (std::isfinite(value) && text.find('.') == std::string::npos)
    text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

namespace {
/// "#mp.adamw<lr = 1.0e-3, ...>"
class FieldsText {
public:
  explicit FieldsText(StringRef mnemonic) : mnemonic(mnemonic) {}
  void add(StringRef name, double value) { put(name, numberText(value)); }
  void add(StringRef name, bool value) { put(name, value ? "true" : "false"); }
  void add(StringRef name, int64_t value) {
    // A length of zero is that of the run.
    if (value)
      put(name, std::to_string(value));
  }
  std::string text(int64_t warmup) const {
    std::string own = "#mp." + mnemonic.str();
    if (!fields.empty())
      own += "<" + join(fields, ", ") + ">";
    return warmup ? formatv("#mp.warmup<steps = {0}, then = {1}>", warmup, own)
                        .str()
                  : own;
  }

private:
  void put(StringRef name, const std::string &value) {
    fields.push_back(name.str() + " = " + value);
  }
  StringRef mnemonic;
  std::vector<std::string> fields;
};
} // namespace

#include "dsl/recipes.cpp.inc"

Schedule constantSchedule(int64_t warmup) {
  return {FieldsText("constant").text(warmup)};
}

//===----------------------------------------------------------------------===//
// Initialisers
//===----------------------------------------------------------------------===//

static Initializer init(const std::string &arguments) {
  return {"#mp.init<" + arguments + ">"};
}
Initializer zeros() { return init("zeros"); }
Initializer ones() { return init("ones"); }
Initializer constantInit(double value) {
  return init("constant, value = " + numberText(value));
}
Initializer uniformInit(double a, double b) {
  return init("uniform, a = " + numberText(a) + ", b = " + numberText(b));
}
Initializer uniformFanIn(int64_t fanIn) {
  return init("uniform, fan_in = " + std::to_string(fanIn));
}
Initializer normalInit(double mean, double std) {
  return init("normal, mean = " + numberText(mean) +
              ", std = " + numberText(std));
}
static Initializer kaiming(const std::string &formula,
                           std::optional<double> a) {
  return init(formula + (a ? ", a = " + numberText(*a) : ""));
}
Initializer kaimingUniform(std::optional<double> a) {
  return kaiming("kaiming_uniform", a);
}
Initializer kaimingNormal(std::optional<double> a) {
  return kaiming("kaiming_normal", a);
}
Initializer xavierUniform(double gain) {
  return init("xavier_uniform, gain = " + numberText(gain));
}
Initializer xavierNormal(double gain) {
  return init("xavier_normal, gain = " + numberText(gain));
}

//===----------------------------------------------------------------------===//
// Recipes
//===----------------------------------------------------------------------===//

static std::string quotedList(ArrayRef<std::string> texts) {
  std::vector<std::string> all;
  for (const std::string &text : texts)
    all.push_back(quoted(text));
  return "[" + join(all, ", ") + "]";
}

/// "mp.minimize result(0) {...}"
static std::string minimizeText(const Minimize &group, size_t result) {
  std::vector<std::string> fields = {"params = " + quotedList(group.params),
                                     "optimizer = " + group.optimizer.text};
  auto number = [&](const char *name, double value) {
    if (value)
      fields.push_back(formatv("{0} = {1}", name, numberText(value)).str());
  };
  if (!group.schedule.text.empty())
    fields.push_back("schedule = " + group.schedule.text);
  number("clip_norm", group.clipNorm);
  number("clip_value", group.clipValue);
  number("ema", group.ema);
  if (!group.name.empty())
    fields.push_back("optimizer_name = " + quoted(group.name));
  return "mp.minimize result(" + std::to_string(result) + ") {" +
         join(fields, ", ") + "}\n";
}

/// The type that autocast computes in; nothing for f32.
static std::optional<std::string> lowType(StringRef precision) {
  return StringSwitch<std::optional<std::string>>(
             mp::canonicalPrecision(precision))
      .Case("fp16", "f16")
      .Case("bf16", "bf16")
      .Case("fp32", "")
      .Default(std::nullopt);
}

/// `symbol` is the scaler's.
static std::string recipeText(const Recipe &recipe, StringRef low,
                              StringRef symbol, StringRef body) {
  std::string text, scaler = recipe.scaler;
  if (scaler.empty() && low == "f16")
    scaler = "torch";
  if (!scaler.empty())
    text +=
        "mp.scaler @" + quoted(symbol) + " {preset = " + quoted(scaler) + "}\n";
  text += "mp.train @" + quoted(recipe.name) + " of @loss";
  if (!low.empty())
    text += " autocast(<dtype = " + low.str() +
            ", policy = " + quoted(recipe.policy) + ">)";
  if (!scaler.empty())
    text += " scaler(@" + quoted(symbol) + ")";
  if (recipe.accumulate)
    text += " accumulate(" + std::to_string(recipe.accumulate) + ")";
  std::vector<std::string> fields;
  if (recipe.clipNorm)
    fields.push_back("clip_norm = " + numberText(recipe.clipNorm));
  if (recipe.clipValue)
    fields.push_back("clip_value = " + numberText(recipe.clipValue));
  if (!recipe.recompute.empty())
    fields.push_back("recompute = " + quoted(recipe.recompute));
  if (!fields.empty())
    text += " attributes {" + join(fields, ", ") + "}";
  return text + " {\n" + body.str() + "}\n";
}

/// What is wrong with a group; "" if nothing is.
static std::string mistakeIn(const Minimize &group) {
  if (group.optimizer.text.empty())
    return "'" + group.result + "' is minimised without an optimizer";
  for (const std::string &text : {group.optimizer.text, group.schedule.text})
    if (!text.empty() && !StringRef(text).starts_with("#"))
      return "'" + text +
             "' is text, expected what a function such as adamw "
             "or cosine returns";
  return "";
}

void Graph::train(const Recipe &recipe, Place place) {
  auto low = lowType(recipe.precision);
  if (!low) {
    state->mistake("precision '" + recipe.precision +
                       "' is not one of a recipe: fp32, fp16 and bf16 are; "
                       "others are chosen when a step is compiled",
                   place);
    return;
  }
  std::vector<Minimize> groups = recipe.groups;
  if (groups.empty())
    groups.push_back(
        {.optimizer = recipe.optimizer, .schedule = recipe.schedule});
  std::string body;
  for (const Minimize &group : groups) {
    auto found = llvm::find_if(state->outputs, [&](const auto &output) {
      return output.name == group.result;
    });
    if (found == state->outputs.end()) {
      state->mistake("no output '" + group.result +
                         "' to minimise: name it "
                         "by output before train",
                     place);
      return;
    }
    if (std::string wrong = mistakeIn(group); !wrong.empty()) {
      state->mistake(wrong, place);
      return;
    }
    body += "  " + minimizeText(group, found - state->outputs.begin());
  }
  if (!state->declare("a recipe", recipe.name, place))
    return;
  mlir::OpBuilder::InsertionGuard guard(state->builder);
  state->builder.setInsertionPointToEnd(state->module->getBody());
  // Each recipe has a scaler of its own.
  std::string scaler = "scaler";
  while (state->module->lookupSymbol(scaler))
    scaler = (scaler == "scaler" ? recipe.name : scaler) + "_scaler";
  state->addText(recipeText(recipe, *low, scaler, body), place);
}

static std::string columnText(const Column &column, ElementType element) {
  std::string text = "#mp.column<" + quoted(column.pattern) + " as " +
                     column.format + ", " + mp::elementTypeName(element).str();
  if (!column.shape.empty())
    text += " shape" + mp::dimsText(column.shape);
  if (column.recordBytes)
    text += " record <bytes = " + std::to_string(column.recordBytes) +
            ", offset = " + std::to_string(column.recordOffset) + ">";
  if (const mp::TokenWindow &window = column.window; window.tokens)
    text += " window <tokens = " + std::to_string(window.tokens) +
            ", stride = " + std::to_string(window.stride) +
            ", offset = " + std::to_string(window.offset) +
            (window.streams == 1
                 ? ""
                 : ", streams = " + std::to_string(window.streams)) +
            ">";
  if (!column.dimsInFiles.empty())
    text += " dims_in_files" + mp::dimsText(column.dimsInFiles);
  if (!column.key.empty())
    text += ", key = " + quoted(column.key);
  return text + ">";
}

void Graph::data(const std::string &source, const std::vector<Column> &columns,
                 Place place) {
  std::vector<std::string> texts;
  for (const Column &column : columns) {
    auto known = state->inputs.find(column.input);
    if (known == state->inputs.end()) {
      state->mistake("there is no input '" + column.input + "' for '" +
                         column.pattern + "'",
                     place);
      return;
    }
    texts.push_back(quoted(column.input) + " = " +
                    columnText(column, known->second.first));
  }
  if (!state->declare("a data source", source, place))
    return;
  mlir::OpBuilder::InsertionGuard guard(state->builder);
  state->builder.setInsertionPointToEnd(state->module->getBody());
  state->addText("mp.data @" + quoted(source) + " {" + join(texts, ", ") + "}",
                 place);
}

} // namespace mantissa
