//===- runtime-alone.cpp - the runtime without a compiler -----------------===//
//
// Links Program and runtime with LLVM and nothing else: it builds only as long
// as neither of them needs MLIR. Given a saved Program it runs `init` and
// `derive`.
//
//===----------------------------------------------------------------------===//
#include "runtime/Session.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mp;

/// Does the work of `main`, with errors as values.
static llvm::Error runSaved(llvm::StringRef path) {
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return llvm::createStringError(path + ": " + text.getError().message());
  llvm::Expected<Program> program = parseProgram((*text)->getBuffer());
  if (!program)
    return llvm::createStringError(path + ": " +
                                   llvm::toString(program.takeError()));
  llvm::Expected<std::unique_ptr<Session>> session = Session::create();
  if (!session)
    return session.takeError();
  if (llvm::Error error = (*session)->load(std::move(*program)))
    return error;
  if (llvm::Error error = (*session)->initialize(/*seed=*/1))
    return error;
  for (const Variable &variable : (*session)->variables())
    llvm::outs() << variable.name << ": " << variable.type.str() << "\n";
  return llvm::Error::success();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: runtime-alone PROGRAM\n";
    return 2;
  }
  if (llvm::Error error = runSaved(argv[1])) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
