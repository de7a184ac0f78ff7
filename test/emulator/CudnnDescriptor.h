//===- CudnnDescriptor.h - descriptors of the emulated cuDNN ----*- C++ -*-===//
//
// Names and values are those of cuDNN 9's graph API; the declarations are
// written by hand, apart from those of the runtime that is tested.
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_CUDNNDESCRIPTOR_H
#define MP_EMULATOR_CUDNNDESCRIPTOR_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mp::emulator {

enum cudnnStatus_t : int {
  CUDNN_STATUS_SUCCESS = 0,
  CUDNN_STATUS_BAD_PARAM = 2000,
  CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED = 2004,
  CUDNN_STATUS_NOT_SUPPORTED = 3000,
  CUDNN_STATUS_EXECUTION_FAILED = 5000,
};

/// cudnnBackendDescriptorType_t
enum class CudnnKind : int {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfig = 3,
  Heuristics = 4,
  Plan = 5,
  Forward = 10,
  BackwardFilter = 11,
  BackwardData = 12,
  OperationPointwise = 13,
  Graph = 15,
  VariantPack = 16,
  Tensor = 17,
};

struct CudnnDescriptor;
using CudnnRef = std::shared_ptr<const CudnnDescriptor>;

/// What was set under one name.
struct CudnnAttribute {
  int type = 0;
  int64_t count = 0;
  std::vector<char> bytes;
  std::vector<CudnnRef> descriptors; ///< instead of bytes
};

struct CudnnDescriptor {
  CudnnKind kind = CudnnKind::Tensor;
  bool finalized = false;
  int engine = -1; ///< of an engine and what has one
  std::map<int, CudnnAttribute> attributes;

  template <typename T> std::vector<T> list(int name) const {
    auto found = attributes.find(name);
    if (found == attributes.end())
      return {};
    const T *values = reinterpret_cast<const T *>(found->second.bytes.data());
    return std::vector<T>(values, values + found->second.count);
  }
  template <typename T> T value(int name, T otherwise = {}) const {
    std::vector<T> values = list<T>(name);
    return values.empty() ? otherwise : values.front();
  }
  /// The descriptor under a name, which is there once this is finalized.
  const CudnnDescriptor &at(int name, size_t index = 0) const {
    return *attributes.at(name).descriptors.at(index);
  }
};

/// Why a call failed; empty: it did not.
using CudnnFault = std::string;

/// Checks that a descriptor of this kind has such an attribute.
CudnnFault checkAttribute(CudnnKind kind, int name, int type, int64_t count);
/// Checks that it has all attributes that it needs, and that they agree.
CudnnFault checkDescriptor(const CudnnDescriptor &descriptor);

} // namespace mp::emulator

#endif // MP_EMULATOR_CUDNNDESCRIPTOR_H
