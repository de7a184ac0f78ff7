//===- JsonFile.cpp - what a pass says beside the IR ----------------------===//
#include "passes/JsonFile.h"
#include "llvm/Support/FormatVariadic.h"

llvm::LogicalResult mp::writeJson(mlir::Operation *asker, llvm::StringRef path,
                                  llvm::json::Value value) {
  std::error_code error;
  if (path == "-") { // which stays open, for the IR
    llvm::outs() << llvm::formatv("{0:2}", value) << "\n";
    llvm::outs().flush();
    return llvm::success();
  }
  llvm::raw_fd_ostream os(path, error);
  os << llvm::formatv("{0:2}", value) << "\n";
  os.close();
  if (!error)
    error = os.error();
  os.clear_error();
  if (error)
    return asker->emitError()
           << "cannot write " << path << ": " << error.message();
  return llvm::success();
}

llvm::Expected<llvm::json::Value> mp::parseShallowJson(llvm::StringRef text) {
  constexpr unsigned most = 64;
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (inString && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      inString = !inString;
    else if (!inString && (text[i] == '{' || text[i] == '['))
      ++depth;
    else if (!inString && (text[i] == '}' || text[i] == ']') && depth)
      --depth;
    if (depth > most)
      return llvm::createStringError("its lists nest deeper than " +
                                     llvm::Twine(most));
  }
  return llvm::json::parse(text);
}
