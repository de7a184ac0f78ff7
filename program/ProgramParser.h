//===- ProgramParser.h - reads the text form of a Program -------*- C++ -*-===//
#ifndef MP_PROGRAM_PROGRAMPARSER_H
#define MP_PROGRAM_PROGRAMPARSER_H

#include "program/Limits.h"
#include "program/ProgramLine.h"
#include "llvm/ADT/StringMap.h"

namespace mp::text {

/// Functions return whether the text is wrong, and then `line` says why.

class Parser {
public:
  explicit Parser(llvm::StringRef text) : rest(text) {}
  llvm::Expected<Program> parse();

private:
  bool next();
  bool document();
  bool header();
  bool verify();
  bool item();
  bool payload(std::string &bytes, uint64_t count, llvm::StringRef hash,
               const llvm::Twine &what);

  bool sizedPayload(std::string &bytes, const llvm::Twine &what);

  bool variable();
  bool role(VariableRole &role);
  bool dimsInFiles(std::vector<int64_t> &dims, std::optional<size_t> rank);
  bool record(DataColumn &value);
  bool constant();
  bool kernel();
  bool source();
  bool code();
  bool include();
  bool precision();
  bool plan();
  bool setting();
  bool graph();
  bool accumulate() { return count(program.accumulate, "micro-batches"); }
  bool ranks() { return count(program.ranks, "ranks"); }
  bool count(int64_t &value, llvm::StringRef what) {
    return line.integer(value, ("a number of " + what).str(), 1, kMostCount);
  }
  bool entry();
  bool input();
  bool launch();
  bool call();
  bool copy();
  bool repeat();
  bool endStep(Step step);
  bool result();
  bool record();
  bool buffer();
  bool data();
  bool column();

  bool ref(BufferRef &ref, uint64_t bytes);
  bool strides(BufferRef &ref, uint64_t bytes, uint64_t size);
  bool refs(std::vector<BufferRef> &refs);
  bool work(int64_t &grid, int64_t &block);
  bool cost(uint64_t &bytes, uint64_t &flops);
  bool known(const llvm::StringMap<uint32_t> &names, llvm::StringRef what,
             uint32_t &index);
  bool declare(llvm::StringMap<uint32_t> &names, llvm::StringRef what,
               llvm::StringRef name, size_t index);
  bool lacksSteps();
  bool fail(const llvm::Twine &message) { return line.fail(message); }

  llvm::StringRef rest;
  Line line;
  unsigned lineNumber = 0;
  Program program;
  llvm::StringMap<uint32_t> variables, kernels;
  /// A Repeat of which some steps are to come.
  struct Open {
    int64_t rounds;
    uint32_t left;
  };
  std::vector<Open> repeats; ///< the outermost first
};

} // namespace mp::text

#endif // MP_PROGRAM_PROGRAMPARSER_H
