//===- OneSource.cpp - all kernels of a Program as one text ---------------===//
#include "codegen/cuda/OneSource.h"
#include "support/Error.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mp;
using llvm::StringRef;

/// Text of the user's in a comment, which a line feed would end, and which
/// could seem to end where the direction of writing changes.
static std::string inComment(StringRef text) {
  std::string shown = withoutControls(text);
  for (char &c : shown)
    if (c == '\n' || c == '\t')
      c = '?';
  return shown;
}

namespace {
class OneSource {
public:
  explicit OneSource(const Program &program) : program(program) {}

  std::string print(bool withHeaders) {
    os << "// The kernels of " << inComment(program.module) << " for "
       << program.arch
       << ", which NVRTC takes with -default-device -fmad=false, and\n"
          "// clang++ -x cuda --cuda-device-only -nocudainc -nocudalib -S.\n";
    llvm::SmallVector<std::string> kernels;
    for (const Kernel &kernel : program.kernels)
      kernels.push_back(take(kernel.code));
    if (withHeaders)
      for (StringRef header : headers)
        printHeader(header);
    else
      for (StringRef header : headers)
        if (included.contains(header))
          os << "#include \"" << header << "\"\n";
    for (auto [kernel, code] : llvm::zip_equal(program.kernels, kernels))
      printKernel(kernel, code);
    return std::move(text);
  }

private:
  /// Returns a text without the lines that include headers, which it notes.
  std::string take(StringRef code) {
    std::string rest;
    llvm::SmallVector<StringRef> lines;
    code.split(lines, '\n');
    for (StringRef line : lines) {
      StringRef name = line;
      if (name.consume_front("#include \"")) {
        name = name.split('"').first;
        need(name);
        included.insert(name);
      } else if (line != "using namespace mp;") {
        rest += (line + "\n").str();
      }
    }
    return StringRef(rest).trim('\n').str();
  }

  /// Adds a header, after those that it includes.
  void need(StringRef name) {
    if (headers.contains(name))
      return;
    llvm::SmallVector<StringRef> lines;
    textOf(name).split(lines, '\n');
    for (StringRef line : lines)
      if (line.consume_front("#include \""))
        need(line.split('"').first);
    headers.insert(name);
  }

  StringRef textOf(StringRef name) const {
    for (const Header &header : program.headers)
      if (header.name == name)
        return header.text;
    return "";
  }

  void banner(StringRef title) {
    os << "\n//===" << std::string(70, '-') << "===//\n// " << title << '\n';
  }

  void printHeader(StringRef name) {
    banner(name);
    os << '\n';
    llvm::SmallVector<StringRef> lines;
    textOf(name).trim('\n').split(lines, '\n');
    for (StringRef line : lines)
      if (!line.starts_with("#include \"") && line != "#pragma once")
        os << line << '\n';
  }

  /// The comments are for the reader; the compiled and cached source holds
  /// nothing of the user's file.
  void printKernel(const Kernel &kernel, StringRef code) {
    banner(kernel.summary);
    for (const mp::Location &source : kernel.sources)
      os << "//   " << inComment(source.str()) << '\n';
    os << "\nnamespace " << kernel.symbol << " {\nusing namespace mp;\n\n"
       << code << "\n} // namespace " << kernel.symbol << '\n';
  }

  const Program &program;
  llvm::SetVector<StringRef> headers;  ///< in the order of their includes
  llvm::SetVector<StringRef> included; ///< by kernels themselves
  std::string text;
  llvm::raw_string_ostream os{text};
};
} // namespace

std::string mp::cuda::printOneSource(const Program &program, bool withHeaders) {
  return OneSource(program).print(withHeaders);
}
