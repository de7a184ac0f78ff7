//===- GeneratorImpl.h - what a Generator holds -----------------*- C++ -*-===//
#ifndef MP_API_RUN_GENERATORIMPL_H
#define MP_API_RUN_GENERATORIMPL_H

#include "api/run/OneThread.h"
#include "mantissa.h"
#include "runtime/train/TextWriter.h"

namespace mantissa {

struct Generator::Impl : OneThread {
  explicit Impl(mp::Generator model) : model(std::move(model)) {}

  llvm::Error begin(llvm::ArrayRef<Tokens> prompts,
                    const SamplingOptions &options);
  llvm::Expected<llvm::ArrayRef<WrittenToken>> next();

  mp::Generator model;
  std::optional<mp::TextWriter> writer; ///< of the texts that were begun
  std::vector<WrittenToken> written;    ///< by the last call
};

} // namespace mantissa

#endif // MP_API_RUN_GENERATORIMPL_H
