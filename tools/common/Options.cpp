//===- Options.cpp - command line options as a table ----------------------===//
#include "tools/common/Options.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "tools/common/Tool.h"
#include "tools/common/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace mp::tool {

char UsageError::ID;

template <typename... Ts>
static Error usage(const char *format, Ts &&...values) {
  return make_error<UsageError>(
      formatv(format, std::forward<Ts>(values)...).str());
}

Option flag(std::string name, bool &to, bool value, std::string help) {
  return {std::move(name), "", std::move(help), [&to, value](StringRef) {
            to = value;
            return Error::success();
          }};
}

Option flag(std::string name, std::optional<bool> &to, bool value,
            std::string help) {
  return {std::move(name), "", std::move(help), [&to, value](StringRef) {
            to = value;
            return Error::success();
          }};
}

Option text(std::string name, std::string value, std::string &to,
            std::string help, Names names) {
  return {std::move(name), std::move(value), std::move(help),
          [&to](StringRef given) {
            to = given.str();
            return Error::success();
          },
          names};
}

Option word(std::string name, std::string value, std::string &to,
            std::string help) {
  Option option = text(name, value, to, std::move(help));
  option.set = [name, value, set = option.set](StringRef given) -> Error {
    return given.empty() ? usage("--{0} takes {1}, not ''", name, value)
                         : set(given);
  };
  return option;
}

Option list(std::string name, std::string value, std::vector<std::string> &to,
            std::string help, Names names) {
  return {std::move(name), std::move(value), std::move(help),
          [&to](StringRef given) {
            to.push_back(given.str());
            return Error::success();
          },
          names};
}

Option choice(std::string name, std::string &to,
              std::vector<std::string> values, std::string help) {
  std::string shown = llvm::join(values, "|");
  return {name, shown, std::move(help),
          [&to, name, values](StringRef given) -> Error {
            if (!llvm::is_contained(values, given))
              return usage("unknown value '{0}' for --{1}{2}", given, name,
                           suggest(given, values));
            to = given.str();
            return Error::success();
          }};
}

Option number(std::string name, std::function<void(uint64_t)> to,
              uint64_t least, uint64_t most, std::string help) {
  return {name, "N", std::move(help), [=](StringRef given) -> Error {
            uint64_t value;
            if (given.getAsInteger(10, value) || value < least || value > most)
              return usage("--{0} takes a whole number from {1} to {2}, not "
                           "'{3}'",
                           name, least, most, given);
            to(value);
            return Error::success();
          }};
}

Option positive(std::string name, std::optional<double> &to, std::string help,
                Infinite infinite) {
  return positive(
      std::move(name), [&to](double given) { to = given; }, std::move(help),
      infinite);
}

Option positive(std::string name, std::function<void(double)> to,
                std::string help, Infinite infinite) {
  return {name, "X", std::move(help),
          [name, to, infinite](StringRef given) -> Error {
            bool takesInf = infinite == Infinite::Taken;
            double value;
            bool good = !given.getAsDouble(value) && value > 0;
            // A value outside the range of float would mean zero or no limit.
            bool fits = good && static_cast<float>(value) > 0 &&
                        (std::isfinite(static_cast<float>(value)) ||
                         (takesInf && given.contains_insensitive("inf")));
            if (!fits)
              return usage("--{0} takes {2}{3}, not '{1}'", name, given,
                           good ? "a number that a 32-bit float can hold"
                                : "a number above zero",
                           takesInf ? " or inf" : "");
            to(value);
            return Error::success();
          }};
}

Expected<const Option *> Command::find(StringRef name) const {
  std::vector<std::string> names;
  for (const Option &known : options) {
    if (known.name == name)
      return &known;
    names.push_back("--" + known.name);
  }
  return usage("unknown option '--{0}'{1}", name,
               suggest("--" + name.str(), names));
}

Error Command::apply(const Option &option, StringRef value,
                     std::vector<NamedFile> &files) const {
  // An option that takes files or numbers marks files by '@'.
  StringRef path = value;
  bool marked = StringRef(option.value).starts_with("@");
  if (option.names != Names::Nothing && (!marked || path.consume_front("@")))
    files.push_back({"--" + option.name, path.str(), option.names});
  return option.set(value);
}

Error Command::apply(StringRef word, ArrayRef<const char *> &rest,
                     std::vector<NamedFile> &files) const {
  auto [key, given] = word.split('=');
  bool hasValue = word.contains('=');
  Expected<const Option *> option = find(key);
  if (!option)
    return option.takeError();
  if ((*option)->value.empty()) {
    if (hasValue)
      return usage("--{0} takes no value", key);
    return (*option)->set("");
  }
  if (!hasValue) {
    if (rest.empty())
      return usage("--{0} needs a value: {1}", key, (*option)->value);
    given = rest.consume_front();
  }
  return apply(**option, given, files);
}

Expected<std::optional<std::vector<std::string>>>
Command::parse(ArrayRef<const char *> rest) const {
  std::vector<std::string> others;
  std::vector<NamedFile> files;
  bool optionsEnded = false;
  if (takesConfig)
    if (Error error = applyConfig(rest, files))
      return error;
  while (!rest.empty()) {
    StringRef word = rest.consume_front();
    if (optionsEnded || word == "-" || !word.starts_with("-")) {
      others.push_back(word.str());
    } else if (word == "--") {
      optionsEnded = true;
    } else if (word == "--help" || word == "-h") {
      printHelp(outs());
      return std::nullopt;
    } else if (word == "--version") {
      outs() << versionText(toolName()) << "\n";
      return std::nullopt;
    } else {
      // One dash is enough, as in mlir-opt.
      word.consume_front("-");
      word.consume_front("-");
      if (takesConfig && word == "config" && !rest.empty())
        rest.consume_front();
      else if (takesConfig && word.starts_with("config="))
        continue;
      else if (Error error = apply(word, rest, files))
        return error;
    }
  }
  if (size_t most = positional + optional; others.size() > most)
    return usage("unexpected argument '{0}'; usage: {1}", others[most],
                 synopsis());
  if (others.size() < positional)
    return usage("an argument is missing; usage: {0}", synopsis());
  for (const std::string &path : others)
    files.push_back({called, path, Names::Input});
  if (Error error = checkFiles(files))
    return error;
  return others;
}

std::string Command::synopsis() const {
  return (toolName() + (name.empty() ? "" : " ") + name + " " + arguments)
      .str();
}

void Command::printHelp(raw_ostream &os) const {
  os << "usage: " << synopsis() << "\n\n" << summary << "\n\noptions:\n";
  constexpr unsigned column = 26;
  auto line = [&](const std::string &head, StringRef help) {
    os << "  " << left_justify(head, column);
    if (head.size() >= column)
      os << "\n" << std::string(column + 2, ' ');
    os << help << "\n";
  };
  if (takesConfig)
    line("--config FILE",
         "a JSON object of these options and their values; those given here "
         "come after it");
  for (const Option &option : options)
    line("--" + option.name + (option.value.empty() ? "" : " " + option.value),
         option.help);
  line("--help", "print this");
  if (name.empty())
    line("--version", "print the version");
}

int report(Error error) {
  int code = 1;
  bool badUsage = error.isA<UsageError>();
  std::error_code kind;
  std::string text;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    if (std::error_code code = info.convertToErrorCode();
        code == std::errc::no_such_device)
      kind = code;
    text += (text.empty() ? "" : "\n") + info.message();
  });
  if (badUsage)
    code = 2;
  else if (kind == std::errc::no_such_device)
    code = 3;
  // Diagnostics of the compiler contain their place and severity.
  bool located = StringRef(text).contains(": error: ");
  errs() << (located ? "" : (toolName() + ": error: ").str())
         << withoutControls(text) << "\n";
  return code;
}

} // namespace mp::tool
