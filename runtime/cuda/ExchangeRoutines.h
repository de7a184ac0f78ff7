//===- ExchangeRoutines.h - calls that exchange tensors between devices ---===//
#ifndef MP_RUNTIME_CUDA_EXCHANGEROUTINES_H
#define MP_RUNTIME_CUDA_EXCHANGEROUTINES_H

#include "runtime/cuda/DeviceRoutine.h"

namespace mp::cuda {

/// "nccl.all_reduce" and the other exchanges: starts one. A session without a
/// communicator is the only rank.
llvm::Expected<std::unique_ptr<DeviceRoutine>>
createDeviceExchange(const Call &call, RoutineContext &context);
/// "nccl.wait".
llvm::Expected<std::unique_ptr<DeviceRoutine>>
createDeviceWait(const Call &call, RoutineContext &context);
/// "nccl.rank".
llvm::Expected<std::unique_ptr<DeviceRoutine>>
createDeviceRank(const Call &call, RoutineContext &context);

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_EXCHANGEROUTINES_H
