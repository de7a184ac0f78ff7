//===- OverrideRecipe.cpp - write other values into a recipe --------------===//
#include "dialect/ops/LossScaler.h"
#include "dialect/ops/Recipe.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "passes/Passes.h"
#include "passes/analysis/SettingOptions.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"

namespace mp {
#define GEN_PASS_DEF_OVERRIDERECIPE
#include "passes/step/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// A number as MLIR reads it, which takes none like 1e-3 or .5; other text as
/// it is.
std::string readable(StringRef value) {
  double number;
  if (value.getAsDouble(number))
    return value.str();
  bool isNegative = value.consume_front("-");
  auto [digits, exponent] = value.split(value.contains('e') ? 'e' : 'E');
  auto [whole, fraction] = digits.split('.');
  bool isWhole = fraction.empty() && exponent.empty();
  std::string text =
      (isNegative ? "-" : "") + (whole.empty() ? "0" : whole.str());
  if (!isWhole)
    text += "." + (fraction.empty() ? "0" : fraction.str());
  return exponent.empty() ? text : text + "e" + exponent.str();
}

/// "optimizer[1].lr=0.05" in its parts.
struct Override {
  StringRef text;  ///< all of it
  StringRef owner; ///< "optimizer"
  std::optional<unsigned> index;
  StringRef field;
  std::string value;

  static std::optional<Override> parse(StringRef text) {
    auto [path, value] = text.split('=');
    Override parsed{text, {}, {}, {}, readable(value.trim())};
    std::tie(parsed.owner, parsed.field) = path.trim().split('.');
    if (auto [owner, index] = parsed.owner.split('['); !index.empty()) {
      unsigned number;
      if (!index.consume_back("]") || index.getAsInteger(10, number))
        return std::nullopt;
      parsed.owner = owner;
      parsed.index = number;
    }
    if (parsed.owner.empty() || parsed.field.empty() || parsed.value.empty())
      return std::nullopt;
    return parsed;
  }
};

/// Parses an attribute; "" or the parser's message.
std::string parse(StringRef text, MLIRContext *context, Attribute &attribute) {
  std::string message;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  attribute = parseAttribute(text, context);
  return attribute ? "" : message.empty() ? "is no attribute" : message;
}

/// The arguments between '<' and '>' of a printed attribute, at the outermost
/// level.
SmallVector<StringRef> argumentsOf(StringRef text) {
  SmallVector<StringRef> arguments;
  unsigned depth = 0;
  size_t begin = 0;
  for (auto [i, c] : llvm::enumerate(text)) {
    depth += c == '<' || c == '(' || c == '[';
    depth -= c == '>' || c == ')' || c == ']';
    if (c == ',' && depth == 0) {
      arguments.push_back(text.slice(begin, i).trim());
      begin = i + 1;
    }
  }
  if (StringRef last = text.substr(begin).trim(); !last.empty())
    arguments.push_back(last);
  return arguments;
}

/// Whether an argument is the field, or the pair that the field belongs to, as
/// `betas` are `beta1` and `beta2`.
bool sets(StringRef argument, StringRef field) {
  StringRef name = argument.split('=').first.trim();
  if (name == field)
    return true;
  return field.consume_back("s") &&
         (name == (field + "1").str() || name == (field + "2").str());
}

/// Replaces an argument of an attribute that is printed as `#mp.name<...>`.
/// Arguments that are such attributes have arguments of their own: "then.to".
std::string withArgument(StringRef attribute, StringRef path, StringRef value) {
  auto [field, inner] = path.split('.');
  auto [name, rest] = attribute.split('<');
  rest.consume_back(">");
  SmallVector<StringRef> arguments = argumentsOf(rest);
  std::string replacement = value.str();
  for (StringRef argument : arguments)
    if (auto [own, nested] = argument.split('=');
        !inner.empty() && own.trim() == field)
      replacement = withArgument(nested.trim(), inner, value);
  llvm::erase_if(arguments,
                 [&](StringRef argument) { return sets(argument, field); });
  std::string list = llvm::join(arguments, ", ");
  return (name + "<" + list + (list.empty() ? "" : ", ") + field + " = " +
          replacement + ">")
      .str();
}

/// The forms in which a value may be written: as an attribute, as a number
/// without its point, as text without quotation marks, or as the only element
/// of a list.
SmallVector<std::string> formsOf(StringRef value) {
  return {value.str(), (value + ".0").str(), ("\"" + value + "\"").str(),
          ("[" + value + "]").str(), ("[\"" + value + "\"]").str()};
}

struct OverrideRecipe
    : PassWithSettings<mp::impl::OverrideRecipeBase<OverrideRecipe>,
                       &RecipeSettings::set> {
  using PassWithSettings::PassWithSettings;

  void runOnOperation() override {
    std::string all = getSettings().set;
    for (StringRef text : llvm::split(all, ';')) {
      if (text.trim().empty())
        continue;
      auto parsed = Override::parse(text.trim());
      if (!parsed) {
        getOperation().emitError()
            << "cannot set '" << text.trim()
            << "': expected a field and its value, such as optimizer.lr=0.05";
        return signalPassFailure();
      }
      for (TrainOp recipe : getOperation().getOps<TrainOp>())
        if (failed(apply(recipe, *parsed)))
          return signalPassFailure();
    }
  }

private:
  InFlightDiagnostic refuse(Operation *op, const Override &override) {
    return op->emitOpError() << "cannot set " << override.text << ": ";
  }

  LogicalResult apply(TrainOp recipe, const Override &override) {
    static constexpr StringLiteral owners[] = {
        "optimizer", "schedule", "minimize", "train", "autocast", "scaler"};
    if (!llvm::is_contained(owners, override.owner))
      return refuse(recipe, override)
             << "'" << override.owner << "' is not one of "
             << llvm::join(std::begin(owners), std::end(owners), ", ");
    bool isOfGroup =
        llvm::is_contained(ArrayRef(owners).take_front(3), override.owner);
    if (override.index && !isOfGroup)
      return refuse(recipe, override)
             << "there is one " << override.owner << ", without a number";
    if (override.owner == "train")
      return setAttribute(recipe, override);
    if (override.owner == "autocast")
      return setArgument(recipe, "autocast", override);
    if (override.owner == "scaler")
      return setScaler(recipe, override);
    return setOfGroups(recipe, override);
  }

  LogicalResult setScaler(TrainOp recipe, const Override &override) {
    auto name = recipe.getScaler();
    auto scaler = name ? SymbolTable::lookupNearestSymbolFrom<ScalerOp>(
                             recipe, StringAttr::get(&getContext(), *name))
                       : ScalerOp();
    if (!scaler)
      return refuse(recipe, override) << "the recipe has no mp.scaler";
    return setAttribute(scaler, override);
  }

  /// Sets a field of one mp.minimize, or of all those that can have it.
  LogicalResult setOfGroups(TrainOp recipe, const Override &override) {
    auto groups = llvm::to_vector(recipe.getBody().getOps<MinimizeOp>());
    if (override.index && *override.index >= groups.size())
      return refuse(recipe, override)
             << "the recipe has " << groups.size() << " mp.minimize, which are "
             << "counted from 0";
    for (auto [i, group] : llvm::enumerate(groups)) {
      if (override.index && *override.index != i)
        continue;
      if (failed(override.owner == "minimize"
                     ? setAttribute(group, override)
                     : setArgument(group, override.owner, override)))
        return failure();
    }
    return success();
  }

  /// Sets a field of an attribute such as #mp.sgd<lr = 0.1>.
  LogicalResult setArgument(Operation *op, StringRef name,
                            const Override &override) {
    Attribute before = op->getAttr(name), after;
    if (!before)
      return refuse(op, override) << "it has no " << name;
    std::string text, first;
    llvm::raw_string_ostream(text) << before;
    for (const std::string &form : formsOf(override.value)) {
      std::string fault =
          parse(withArgument(text, override.field, form), &getContext(), after);
      if (fault.empty()) {
        op->setAttr(name, after);
        return success();
      }
      if (first.empty())
        first = fault;
    }
    return refuse(op, override) << first;
  }

  /// Sets an attribute of an op to the first form of the value that the op
  /// accepts.
  LogicalResult setAttribute(Operation *op, const Override &override) {
    auto names = op->getName().getAttributeNames();
    if (!llvm::is_contained(names,
                            StringAttr::get(&getContext(), override.field)))
      return refuse(op, override) << describeUnknown(names, override.field);
    Attribute before = op->getAttr(override.field);
    // What the op says of a value of the right kind tells more than that
    // another form is of another kind.
    std::string ofForm, ofValue;
    for (const std::string &form : formsOf(override.value)) {
      Attribute value;
      std::string fault = parse(form, &getContext(), value);
      std::string &kept =
          value && takes(op, override.field, value) ? ofValue : ofForm;
      if (fault.empty())
        fault = faultWith(op, override.field, value);
      if (fault.empty())
        return success();
      if (kept.empty())
        kept = fault;
    }
    restore(op, override.field, before);
    return refuse(op, override) << (ofValue.empty() ? ofForm : ofValue);
  }

  static std::string describeUnknown(ArrayRef<StringAttr> names,
                                     StringRef field) {
    std::vector<std::string> known;
    for (StringAttr name : names)
      known.push_back(name.str());
    return "it has no '" + field.str() + "'" + suggest(field, known);
  }

  static void restore(Operation *op, StringRef name, Attribute before) {
    if (before)
      op->setAttr(name, before);
    else
      op->removeAttr(name);
  }

  /// Whether the op has attributes of that kind there: it drops others.
  static bool takes(Operation *op, StringRef name, Attribute value) {
    Attribute before = op->getAttr(name);
    restore(op, name, value);
    bool isTaken = op->getAttr(name) == value;
    restore(op, name, before);
    return isTaken;
  }

  /// Sets the attribute; "" or what the op's verifier says of it.
  std::string faultWith(Operation *op, StringRef name, Attribute value) {
    // `true` is what a flag has, and a unit attribute is without a value.
    auto unit = UnitAttr::get(&getContext());
    if (auto flag = dyn_cast<BoolAttr>(value); flag && takes(op, name, unit))
      value = flag.getValue() ? Attribute(unit) : Attribute();
    std::string message;
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    restore(op, name, value);
    if (op->getAttr(name) != value)
      return "it is no attribute of that kind";
    return succeeded(mlir::verify(op, /*verifyRecursively=*/false)) ? ""
                                                                    : message;
  }
};
} // namespace

std::unique_ptr<Pass> mp::createOverrideRecipe(const RecipeSettings &settings) {
  return std::make_unique<OverrideRecipe>(settings);
}
