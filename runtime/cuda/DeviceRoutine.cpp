//===- DeviceRoutine.cpp - the table of library calls on a device ---------===//
#include "runtime/cuda/DeviceRoutine.h"
#include "runtime/Memory.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Cudnn.h"
#include "runtime/cuda/ExchangeRoutines.h"

using namespace llvm;

namespace mp::cuda {

namespace {
struct Known {
  StringLiteral name;
  Expected<std::unique_ptr<DeviceRoutine>> (*create)(const Call &,
                                                     RoutineContext &);
};
constexpr Known kTable[] = {
    {"cublaslt.matmul", createCublasLtMatmul},
    {"cudnn.conv2d", createCudnnConv2d},
    {"nccl.all_gather", createDeviceExchange},
    {"nccl.all_reduce", createDeviceExchange},
    {"nccl.broadcast_from", createDeviceExchange},
    {"nccl.rank", createDeviceRank},
    {"nccl.reduce_scatter", createDeviceExchange},
    {"nccl.wait", createDeviceWait},
};
} // namespace

uint32_t alignmentOf(const BufferRef &ref) {
  uint64_t lowest = ref.offset & -ref.offset;
  return ref.offset ? std::min(lowest, kTensorAlignment) : kTensorAlignment;
}

Expected<std::unique_ptr<DeviceRoutine>>
createDeviceRoutine(const Call &call, RoutineContext &context) {
  std::string names;
  for (const Known &known : kTable) {
    if (known.name == call.routine) {
      auto routine = known.create(call, context);
      if (routine)
        return routine;
      Error error = routine.takeError();
      std::error_code code;
      handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
        code = info.convertToErrorCode();
        names = info.message();
      });
      return createStringError(code,
                               "routine '" + call.routine + "': " + names);
    }
    names += (names.empty() ? "" : ", ") + known.name.str();
  }
  return createStringError("unknown routine '" + call.routine +
                           "'; known: " + names);
}

} // namespace mp::cuda
