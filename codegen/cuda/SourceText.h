//===- SourceText.h - C++ being printed -------------------------*- C++ -*-===//
#ifndef MP_CODEGEN_CUDA_SOURCETEXT_H
#define MP_CODEGEN_CUDA_SOURCETEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>
#include <vector>

namespace mp::cuda {

/// Makes names that no other call returned: "v0", "v1", "x2", ...
class NameSource {
public:
  std::string fresh(llvm::StringRef prefix) {
    return (prefix + llvm::Twine(next++)).str();
  }

private:
  unsigned next = 0;
};

/// Lines with their depth. A text may be put into another one, at any depth.
class SourceText {
public:
  void line(const llvm::Twine &text) { lines.push_back({depth, text.str()}); }
  void blank() { lines.push_back({0, ""}); }
  /// Prints `head {`; what follows is inside until `close`.
  void open(const llvm::Twine &head) {
    line(head + (head.isTriviallyEmpty() ? "{" : " {"));
    ++depth;
  }
  void close(const llvm::Twine &tail = "}") {
    --depth;
    line(tail);
  }
  void append(const SourceText &other) {
    for (const Line &inner : other.lines)
      lines.push_back(
          {inner.text.empty() ? 0 : depth + inner.depth, inner.text});
  }
  bool empty() const { return lines.empty(); }
  std::string str() const {
    std::string text;
    for (const Line &line : lines)
      text.append(2 * line.depth, ' ').append(line.text).append("\n");
    return text;
  }

private:
  struct Line {
    unsigned depth;
    std::string text;
  };
  std::vector<Line> lines;
  unsigned depth = 0;
};

} // namespace mp::cuda

#endif // MP_CODEGEN_CUDA_SOURCETEXT_H
