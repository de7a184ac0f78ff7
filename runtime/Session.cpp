//===- Session.cpp - loads Programs and runs their entry points -----------===//
#include "runtime/Session.h"
#include "codegen/Compile.h"
#include "runtime/CpuSession.h"
#include "runtime/cuda/CudaSession.h"

using namespace mp;

llvm::Expected<Executable::Results> Executable::run(Inputs inputs) {
  llvm::Expected<Ticket> ticket = submit(inputs);
  if (!ticket)
    return ticket.takeError();
  return results(*ticket);
}

std::unique_ptr<KernelSink> Session::sink() { return nullptr; }

llvm::Expected<std::unique_ptr<Session>>
Session::create(const SessionOptions &options) {
  switch (options.device.kind) {
  case Device::Kind::Cpu:
    return createCpuSession(options);
  case Device::Kind::Cuda:
    return cuda::createSession(options);
  }
  llvm_unreachable("all kinds are handled");
}
