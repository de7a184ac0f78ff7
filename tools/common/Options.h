//===- Options.h - command line options as a table ------------------------===//
//
// libLLVM registers hundreds of options with llvm::cl; a table here keeps help
// and errors to the tool's own. Each entry has the option's name, value and
// help, and the place of its value; parser and help are made from it.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TOOLS_COMMON_OPTIONS_H
#define MP_TOOLS_COMMON_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mp::tool {

/// A command line that cannot be understood; the process exits with 2.
class UsageError : public llvm::ErrorInfo<UsageError> {
public:
  static char ID;
  explicit UsageError(std::string message) : text(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::invalid_argument);
  }

private:
  std::string text;
};

/// The thing that an option's value names. A run is a folder of metrics.jsonl,
/// summary.json, checkpoint.safetensors and more, or a checkpoint alone.
enum class Names { Nothing, Input, Output, InputRun, OutputRun };

/// An option. `value` is the placeholder in the help; a flag has none.
struct Option {
  std::string name, value, help;
  std::function<llvm::Error(llvm::StringRef)> set;
  Names names = Names::Nothing;
};

Option flag(std::string name, std::optional<bool> &to, bool value,
            std::string help);
Option flag(std::string name, bool &to, bool value, std::string help);
Option text(std::string name, std::string value, std::string &to,
            std::string help, Names names = Names::Nothing);
/// Makes an option for a text that is not empty.
Option word(std::string name, std::string value, std::string &to,
            std::string help);
/// Makes an option that may be given several times.
Option list(std::string name, std::string value, std::vector<std::string> &to,
            std::string help, Names names = Names::Nothing);
Option choice(std::string name, std::string &to,
              std::vector<std::string> values, std::string help);
/// Makes an option for a whole number of at least `least`.
Option number(std::string name, std::function<void(uint64_t)> to,
              uint64_t least, uint64_t most, std::string help);
enum class Infinite { Refused, Taken };
/// Makes an option for a number above zero, with or without a point, or inf.
Option positive(std::string name, std::function<void(double)> to,
                std::string help, Infinite infinite = Infinite::Taken);
Option positive(std::string name, std::optional<double> &to, std::string help,
                Infinite infinite = Infinite::Taken);

/// A file on the command line; `by` is its place there: "--json", or "the
/// module".
struct NamedFile {
  std::string by, path;
  Names names;
};

/// Fails unless every output can be written, and none is an input, or another
/// output too: faults are found before any work. Pipes and devices may be named
/// twice.
llvm::Error checkFiles(llvm::ArrayRef<NamedFile> files);

/// The options of a tool or of its subcommand `name`, and its other arguments.
struct Command {
  std::string name, arguments, summary;
  std::vector<Option> options = {};
  size_t positional = 0; ///< number of other arguments
  size_t optional = 0;   ///< number of optional ones after them
  /// What errors call such an argument.
  std::string called = "the module";
  /// Whether `--config FILE` gives options too: a JSON object of their names
  /// and values. Those of the command line come after them.
  bool takesConfig = false;

  /// Sets the options and checks the files that they name; returns the other
  /// arguments, or nothing if help or the version was asked for and printed.
  /// `--name=value` and `--name value` are the same; options and arguments may
  /// be mixed; after `--` all are arguments.
  llvm::Expected<std::optional<std::vector<std::string>>>
  parse(llvm::ArrayRef<const char *> arguments) const;
  void printHelp(llvm::raw_ostream &os) const;

private:
  /// "mp-run bench FILE [options]"
  std::string synopsis() const;
  llvm::Expected<const Option *> find(llvm::StringRef name) const;
  llvm::Error apply(llvm::StringRef word, llvm::ArrayRef<const char *> &rest,
                    std::vector<NamedFile> &files) const;
  llvm::Error apply(const Option &option, llvm::StringRef value,
                    std::vector<NamedFile> &files) const;
  llvm::Error applyConfig(llvm::ArrayRef<const char *> words,
                          std::vector<NamedFile> &files) const;
};

/// Prints an error and returns its exit code: 2 for a UsageError, 3 for a
/// device that is not available, else 1.
int report(llvm::Error error);

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_OPTIONS_H
