//===- Cudnn.cpp - the exported functions of the emulated cuDNN -----------===//

#include "Call.h"
#include "Cuda.h"
#include "CudnnConvolution.h"

#include <algorithm>
#include <cstring>

using namespace mp::emulator;

namespace {
/// What callers hold: descriptors that refer to another share it, so that the
/// caller may destroy it once they are finalized.
struct Holder {
  std::shared_ptr<CudnnDescriptor> descriptor;
};

/// One execution, which a graph may run many times: it stays with the handle.
struct Enqueued {
  CudnnConvolution convolution;
  CudnnPack pack;
};

struct Context {
  CUstream stream = nullptr;
  std::vector<std::unique_ptr<Enqueued>> enqueued;
};

constexpr int typeDescriptor = 15, typeNote = 11;
} // namespace

extern "C" CUresult cuLaunchHostFunc(CUstream, void (*)(void *), void *);

static std::string &lastError() {
  static thread_local std::string text;
  return text;
}

static cudnnStatus_t refuse(cudnnStatus_t status, const std::string &text) {
  lastError() = text;
  return status;
}

/// Logs a call, and returns the error that the user asked for.
static cudnnStatus_t begin(const char *name, const std::string &details = {}) {
  std::lock_guard<CallLock> guard(lock());
  auto status = static_cast<cudnnStatus_t>(enter(name, details));
  return status ? refuse(status, "MP_EMULATOR_FAIL") : status;
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

MP_EXPORT size_t cudnnGetVersion() { return 91002; }

MP_EXPORT const char *cudnnGetErrorString(int status) {
  switch (status) {
  case CUDNN_STATUS_SUCCESS:
    return "CUDNN_STATUS_SUCCESS";
  case CUDNN_STATUS_BAD_PARAM:
    return "CUDNN_STATUS_BAD_PARAM";
  case CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED:
    return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
  case CUDNN_STATUS_NOT_SUPPORTED:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  case CUDNN_STATUS_EXECUTION_FAILED:
    return "CUDNN_STATUS_EXECUTION_FAILED";
  }
  return "unknown status";
}

MP_EXPORT void cudnnGetLastErrorString(char *message, size_t bytes) {
  size_t length = std::min(lastError().size(), bytes - 1);
  memcpy(message, lastError().data(), length);
  message[length] = 0;
  lastError().clear();
}

MP_EXPORT cudnnStatus_t cudnnCreate(Context **handle) {
  if (cudnnStatus_t error = begin("cudnnCreate"))
    return error;
  *handle = new Context;
  return CUDNN_STATUS_SUCCESS;
}

MP_EXPORT cudnnStatus_t cudnnDestroy(Context *handle) {
  delete handle;
  return begin("cudnnDestroy");
}

MP_EXPORT cudnnStatus_t cudnnSetStream(Context *handle, CUstream stream) {
  handle->stream = stream;
  return begin("cudnnSetStream");
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

MP_EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(int type, Holder **made) {
  if (cudnnStatus_t error =
          begin("cudnnBackendCreateDescriptor", format("type=%d", type)))
    return error;
  *made = new Holder{std::make_shared<CudnnDescriptor>()};
  (*made)->descriptor->kind = static_cast<CudnnKind>(type);
  return CUDNN_STATUS_SUCCESS;
}

MP_EXPORT cudnnStatus_t cudnnBackendDestroyDescriptor(Holder *holder) {
  delete holder;
  return CUDNN_STATUS_SUCCESS;
}

static size_t bytesOf(int type) {
  constexpr int boolean = 2;
  constexpr int ofEightBytes[] = {0, 3, 5, 6, typeDescriptor};
  return std::count(std::begin(ofEightBytes), std::end(ofEightBytes), type) ? 8
         : type == boolean                                                  ? 1
                                                                            : 4;
}

MP_EXPORT cudnnStatus_t cudnnBackendSetAttribute(Holder *holder, int name,
                                                 int type, int64_t count,
                                                 const void *values) {
  if (cudnnStatus_t error = begin("cudnnBackendSetAttribute"))
    return error;
  CudnnDescriptor &descriptor = *holder->descriptor;
  if (descriptor.finalized)
    return refuse(CUDNN_STATUS_BAD_PARAM, "the descriptor is finalized");
  if (CudnnFault why = checkAttribute(descriptor.kind, name, type, count);
      !why.empty())
    return refuse(CUDNN_STATUS_BAD_PARAM, why);
  CudnnAttribute attribute{type, count, {}, {}};
  if (type == typeDescriptor) {
    for (int64_t i = 0; i < count; ++i) {
      Holder *other = static_cast<Holder *const *>(values)[i];
      if (!other->descriptor->finalized)
        return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                      format("attribute %d is not finalized", name));
      attribute.descriptors.push_back(other->descriptor);
    }
  } else {
    auto *bytes = static_cast<const char *>(values);
    attribute.bytes.assign(bytes, bytes + count * bytesOf(type));
  }
  descriptor.attributes[name] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}

MP_EXPORT cudnnStatus_t cudnnBackendFinalize(Holder *holder) {
  if (cudnnStatus_t error = begin("cudnnBackendFinalize"))
    return error;
  CudnnDescriptor &descriptor = *holder->descriptor;
  if (CudnnFault why = checkDescriptor(descriptor); !why.empty())
    return refuse(CUDNN_STATUS_BAD_PARAM, why);
  if (descriptor.kind == CudnnKind::Plan) {
    descriptor.engine = descriptor.at(401).engine;
    if (descriptor.engine == EngineThatDoesNotRun)
      return refuse(CUDNN_STATUS_NOT_SUPPORTED, "the engine does not run");
  }
  descriptor.finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

/// Returns how many values there are, or fills in descriptors of the caller.
static int64_t giveConfigs(const CudnnDescriptor &heuristics, int64_t wanted,
                           void *values) {
  std::vector<int> engines = enginesOf(heuristics.value<int>(200));
  auto count = static_cast<int64_t>(engines.size());
  if (!values)
    return count;
  for (int64_t i = 0; i < std::min(count, wanted); ++i) {
    CudnnDescriptor &config = *static_cast<Holder **>(values)[i]->descriptor;
    config.engine = engines[i];
    config.finalized = true;
    config.attributes[201] = heuristics.attributes.at(201);
  }
  return std::min(count, wanted);
}

MP_EXPORT cudnnStatus_t cudnnBackendGetAttribute(Holder *holder, int name,
                                                 int type, int64_t wanted,
                                                 int64_t *found, void *values) {
  if (cudnnStatus_t error = begin("cudnnBackendGetAttribute"))
    return error;
  const CudnnDescriptor &descriptor = *holder->descriptor;
  if (!descriptor.finalized)
    return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                  "the descriptor is not finalized");
  constexpr int results = 202, engineOfConfig = 300, workspaceSize = 402,
                numericalNote = 1303, typeInt64 = 3;
  if (descriptor.kind == CudnnKind::Heuristics && name == results &&
      type == typeDescriptor) {
    *found = giveConfigs(descriptor, wanted, values);
  } else if (descriptor.kind == CudnnKind::EngineConfig &&
             name == engineOfConfig && type == typeDescriptor && wanted == 1) {
    CudnnDescriptor &engine = *static_cast<Holder **>(values)[0]->descriptor;
    engine.engine = descriptor.engine;
    engine.finalized = true;
    *found = 1;
  } else if (descriptor.kind == CudnnKind::Engine && name == numericalNote &&
             type == typeNote) {
    std::vector<int> notes = notesOf(descriptor.engine);
    *found = std::min<int64_t>(wanted, notes.size());
    std::copy_n(notes.begin(), *found, static_cast<int *>(values));
  } else if (descriptor.kind == CudnnKind::Plan && name == workspaceSize &&
             type == typeInt64) {
    *static_cast<int64_t *>(values) = workspaceOf(descriptor.engine);
    *found = 1;
  } else {
    return refuse(CUDNN_STATUS_NOT_SUPPORTED,
                  format("the emulator cannot return attribute %d", name));
  }
  return CUDNN_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

MP_EXPORT cudnnStatus_t cudnnBackendExecute(Context *handle, Holder *planHolder,
                                            Holder *packHolder) {
  const CudnnDescriptor &plan = *planHolder->descriptor,
                        &pack = *packHolder->descriptor;
  if (!plan.finalized || !pack.finalized)
    return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                  "the plan or the pack is not finalized");
  auto work = std::make_unique<Enqueued>(
      Enqueued{CudnnConvolution(plan.at(401).at(201), plan.engine), {}});
  if (cudnnStatus_t error =
          begin("cudnnBackendExecute", work->convolution.str()))
    return error;
  auto ids = pack.list<int64_t>(1000);
  auto pointers = pack.list<char *>(1001);
  for (size_t i = 0; i < ids.size(); ++i)
    work->pack.tensors[ids[i]] = pointers[i];
  work->pack.workspace = pack.value<char *>(1003);
  if (CudnnFault why = work->convolution.check(work->pack); !why.empty())
    return refuse(CUDNN_STATUS_BAD_PARAM, why);
  auto run = [](void *data) {
    auto *enqueued = static_cast<Enqueued *>(data);
    enqueued->convolution.run(enqueued->pack);
  };
  if (cuLaunchHostFunc(handle->stream, run, work.get()) != CUDA_SUCCESS)
    return refuse(CUDNN_STATUS_EXECUTION_FAILED, "cuLaunchHostFunc failed");
  handle->enqueued.push_back(std::move(work));
  return CUDNN_STATUS_SUCCESS;
}
