//===- CudnnConvolution.cpp - convolutions of the emulated cuDNN ----------===//

#include "CudnnConvolution.h"
#include "Call.h"
#include "Cuda.h"

#include <cmath>
#include <cstring>

extern "C" CUresult cuMemGetAddressRange_v2(CUdeviceptr *, size_t *,
                                            CUdeviceptr);

namespace mp::emulator {

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

std::vector<int> notesOf(int engine) {
  constexpr int tensorCore = 0, nondeterministic = 4;
  switch (engine) {
  case EngineNondeterministic:
    return {tensorCore, nondeterministic};
  case EngineTensorCore:
    return {tensorCore};
  default:
    return {};
  }
}

int64_t workspaceOf(int engine) {
  return engine == EngineOfMuchWorkspace ? int64_t(1) << 40
         : engine == EngineFallback      ? 256
                                         : 0;
}

std::vector<int> enginesOf(int mode) {
  constexpr int modeA = 3;
  if (mode == modeA)
    return {EngineNondeterministic, EngineThatDoesNotRun, EngineOfMuchWorkspace,
            EngineTensorCore};
  return {EngineNondeterministic, EngineFallback};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
enum : int { F32 = 0, F16 = 2, BF16 = 9 };

int64_t widthOf(int type) { return type == F32 ? 4 : 2; }

float load(const char *from, int type) {
  if (type == F16) {
    _Float16 half;
    memcpy(&half, from, sizeof(half));
    return static_cast<float>(half);
  }
  uint32_t bits = 0;
  memcpy(reinterpret_cast<char *>(&bits) + (type == BF16 ? 2 : 0), from,
         widthOf(type));
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

void store(char *to, int type, float value) {
  if (type == F16) {
    auto half = static_cast<_Float16>(value);
    memcpy(to, &half, sizeof(half));
    return;
  }
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if (type == BF16)
    bits = std::isnan(value) ? 0x7fc00000 : bits + 0x7fff + (bits >> 16 & 1);
  memcpy(to, reinterpret_cast<char *>(&bits) + (type == BF16 ? 2 : 0),
         widthOf(type));
}

float cutToTf32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  bits &= ~0x1fffu;
  memcpy(&value, &bits, sizeof(bits));
  return value;
}
} // namespace

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

CudnnConvolution::Tensor::Tensor(const CudnnDescriptor &descriptor)
    : id(descriptor.value<int64_t>(906)), type(descriptor.value<int>(901)),
      alignment(descriptor.value<int64_t>(900)),
      sizes(descriptor.list<int64_t>(902)),
      strides(descriptor.list<int64_t>(903)) {}

int64_t CudnnConvolution::Tensor::count() const {
  return sizes[0] * sizes[1] * sizes[2] * sizes[3];
}

int64_t CudnnConvolution::Tensor::extent() const {
  return place(sizes[0] - 1, sizes[1] - 1, sizes[2] - 1, sizes[3] - 1) + 1;
}

static int firstName(const CudnnDescriptor &op) {
  return op.kind == CudnnKind::Forward        ? 700
         : op.kind == CudnnKind::BackwardData ? 706
                                              : 712;
}

CudnnConvolution::CudnnConvolution(const CudnnDescriptor &graph, int engine)
    : kind(graph.at(801).kind), engine(engine),
      w(graph.at(801).at(firstName(graph.at(801)) + 3)),
      x(graph.at(801).at(firstName(graph.at(801)) + 4)),
      y(graph.at(801).at(firstName(graph.at(801)) + 5)) {
  const CudnnDescriptor &window =
      graph.at(801).at(firstName(graph.at(801)) + 2);
  dilations = window.list<int64_t>(102);
  strides = window.list<int64_t>(103);
  before = window.list<int64_t>(105);
  if (graph.attributes.at(801).count > 1) {
    added.emplace_back(graph.at(801, 1).at(752));
    added.emplace_back(graph.at(801, 1).at(753));
  }
}

const CudnnConvolution::Tensor &CudnnConvolution::result() const {
  return kind == CudnnKind::BackwardData     ? x
         : kind == CudnnKind::BackwardFilter ? w
         : added.empty()                     ? y
                                             : added[1];
}

/// Those that are in memory.
std::vector<const CudnnConvolution::Tensor *> CudnnConvolution::all() const {
  if (added.empty())
    return {&w, &x, &y};
  return {&w, &x, &added[0], &added[1]};
}

CudnnFault CudnnConvolution::check(const CudnnPack &pack) const {
  auto isOnDevice = [](const void *address, uint64_t bytes) {
    CUdeviceptr base = 0, at = reinterpret_cast<CUdeviceptr>(address);
    size_t size = 0;
    return bytes == 0 ||
           (cuMemGetAddressRange_v2(&base, &size, at) == CUDA_SUCCESS &&
            at - base + bytes <= size);
  };
  for (const Tensor *tensor : all()) {
    auto id = static_cast<long long>(tensor->id);
    auto found = pack.tensors.find(tensor->id);
    if (found == pack.tensors.end())
      return format("the pack has no tensor %lld", id);
    if (reinterpret_cast<uintptr_t>(found->second) % tensor->alignment)
      return format("tensor %lld is not aligned as its descriptor says", id);
    if (!isOnDevice(found->second, tensor->extent() * widthOf(tensor->type)))
      return format("tensor %lld leaves an allocation of the device", id);
  }
  return isOnDevice(pack.workspace, workspaceOf(engine))
             ? ""
             : "the workspace leaves an allocation of the device";
}

std::vector<float> CudnnConvolution::read(const Tensor &tensor,
                                          const CudnnPack &pack) const {
  std::vector<float> values(tensor.extent());
  const char *from = pack.tensors.at(tensor.id);
  for (size_t i = 0; i < values.size(); ++i) {
    float value = load(from + i * widthOf(tensor.type), tensor.type);
    bool cuts = engine == EngineTensorCore && tensor.type == F32;
    values[i] = cuts ? cutToTf32(value) : value;
  }
  return values;
}

void CudnnConvolution::run(const CudnnPack &pack) const {
  memset(pack.workspace, 0xff, workspaceOf(engine));
  bool forward = kind == CudnnKind::Forward,
       data = kind == CudnnKind::BackwardData;
  const Tensor &first = forward ? x : y, &second = data || forward ? w : x,
               &sum = forward ? y
                      : data  ? x
                              : w;
  std::vector<float> a = read(first, pack), b = read(second, pack),
                     sums(sum.extent());
  int64_t in = w.sizes[1], out = w.sizes[0] / (x.sizes[1] / in);
  for (int64_t n = 0; n < y.sizes[0]; ++n)
    for (int64_t k = 0; k < y.sizes[1]; ++k)
      for (int64_t p = 0; p < y.sizes[2]; ++p)
        for (int64_t q = 0; q < y.sizes[3]; ++q)
          for (int64_t r = 0; r < w.sizes[2]; ++r)
            for (int64_t s = 0; s < w.sizes[3]; ++s) {
              int64_t h = p * strides[0] + r * dilations[0] - before[0],
                      v = q * strides[1] + s * dilations[1] - before[1];
              if (h < 0 || h >= x.sizes[2] || v < 0 || v >= x.sizes[3])
                continue;
              for (int64_t i = 0; i < in; ++i) {
                int64_t atY = y.place(n, k, p, q), atW = w.place(k, i, r, s),
                        atX = x.place(n, k / out * in + i, h, v);
                sums[forward ? atY
                     : data  ? atX
                             : atW] +=
                    a[forward ? atX : atY] * b[forward || data ? atW : atX];
              }
            }
  if (engine == EngineNondeterministic)
    sums[0] += 1;
  if (!added.empty()) {
    std::vector<float> bias = read(added[0], pack);
    for (int64_t i = 0; i < sum.count(); ++i)
      sums[i] += bias[i % bias.size()];
  }
  char *to = pack.tensors.at(result().id);
  for (size_t i = 0; i < sums.size(); ++i)
    store(to + i * widthOf(result().type), result().type, sums[i]);
}

std::string CudnnConvolution::str() const {
  auto sizes = [](const Tensor &tensor) {
    return format("%lldx%lldx%lldx%lld",
                  static_cast<long long>(tensor.sizes[0]),
                  static_cast<long long>(tensor.sizes[1]),
                  static_cast<long long>(tensor.sizes[2]),
                  static_cast<long long>(tensor.sizes[3]));
  };
  const char *name = kind == CudnnKind::Forward        ? "forward"
                     : kind == CudnnKind::BackwardData ? "backward_data"
                                                       : "backward_filter";
  return format("%s %s by %s%s engine=%d", name, sizes(x).c_str(),
                sizes(w).c_str(), added.empty() ? "" : " and a bias", engine);
}

} // namespace mp::emulator
