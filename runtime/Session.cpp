//===- Session.cpp - loads Programs and runs their entry points -----------===//
#include "runtime/Session.h"
#include "program/Compiler.h"
#include "runtime/InputCheck.h"
#include "runtime/Profile.h"
#include "runtime/cpu/CpuSession.h"
#include "runtime/cuda/CudaSession.h"
#include "runtime/ranks/Communicator.h"
#include "support/Error.h"
#include "support/Spelling.h"

using namespace mp;

llvm::Expected<TensorView> Results::find(llvm::StringRef name) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < size(); ++i) {
    const std::string &known = declared->results[i].name;
    if (known == name && !name.empty())
      return (*this)[i];
    if (!known.empty())
      names.push_back(known);
  }
  return makeError("'{0}' has no result '{1}'{2}",
                   declared ? declared->function : "", name,
                   suggest(name, names));
}

llvm::Expected<Executable::Ticket> Executable::submit(Inputs inputs,
                                                      Ranges ranges) {
  if (llvm::Error error = checkSizes(entry(), inputs))
    return error;
  if (ranges == Ranges::Check)
    if (llvm::Error error = checkRanges(entry(), inputs))
      return error;
  return start(inputs);
}

llvm::Expected<Profile> Executable::profile(Inputs inputs) {
  if (llvm::Error error = checkSizes(entry(), inputs))
    return error;
  if (llvm::Error error = checkRanges(entry(), inputs))
    return error;
  return measure(inputs);
}

llvm::Expected<Executable::Results> Executable::run(Inputs inputs,
                                                    Ranges ranges) {
  llvm::Expected<Ticket> ticket = submit(inputs, ranges);
  if (!ticket)
    return ticket.takeError();
  return results(*ticket);
}

std::unique_ptr<KernelSink> Session::sink() { return nullptr; }

llvm::Error Session::view(const Variable &variable,
                          llvm::function_ref<void(llvm::ArrayRef<char>)> see) {
  std::vector<char> bytes(variable.type.bytes());
  if (llvm::Error error = read(variable.name, bytes))
    return error;
  see(bytes);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Session>>
Session::create(const SessionOptions &options) {
  switch (options.device.kind) {
  case Device::Kind::Cpu:
    if (options.ranks && !options.ranks->isForCpus())
      return makeError("NCCL connects these {0} ranks, for steps on CUDA "
                       "devices, but this one runs on the CPU: start ranks on "
                       "CPUs by mpirun",
                       options.ranks->size());
    return createCpuSession(options);
  case Device::Kind::Cuda:
    return cuda::createSession(options);
  }
  llvm_unreachable("all kinds are handled");
}
