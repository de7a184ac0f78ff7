//===- run-program.cpp - runs a compiled Program --------------------------===//
//
// mp-translate --mp-to-program --mp-code --mp-goal=run model.mlir -o
// model.program run-program model.program
//
//===----------------------------------------------------------------------===//
#include "runtime/Session.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: run-program PROGRAM\n";
    return 2;
  }
  llvm::ExitOnError check("run-program: ");
  auto text = check(errorOrToExpected(llvm::MemoryBuffer::getFile(argv[1])));
  mp::Program program = check(mp::parseProgram(text->getBuffer()));
  std::string function = program.entries.front().function;

  auto session = check(mp::Session::create());
  check(session->load(std::move(program)));
  check(session->initialize(/*seed=*/1));
  std::vector<float> x = {-1, 0.5, 2, -3};
  auto results =
      check(session->find(function, /*batch=*/0)->run(mp::TensorView(x)));
  const auto *y = static_cast<const float *>(results[0].data());
  for (int64_t i = 0; i < results[0].size(); ++i)
    llvm::outs() << (i ? " " : "") << llvm::format("%g", y[i]);
  llvm::outs() << "\n";
}
