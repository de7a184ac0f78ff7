//===- CudnnDescriptor.h - descriptors of cuDNN ---------------------------===//
#ifndef MP_RUNTIME_CUDA_CUDNNDESCRIPTOR_H
#define MP_RUNTIME_CUDA_CUDNNDESCRIPTOR_H

#include "runtime/cuda/Cudnn.h"
#include <utility>

namespace mp::cuda::dnn {

/// Owns a descriptor.
class OwnedDescriptor {
public:
  /// A descriptor without attributes, which the library fills in or a
  /// DescriptorBuilder sets.
  static llvm::Expected<OwnedDescriptor> create(const Library &library,
                                                DescriptorType type);
  OwnedDescriptor() = default;
  OwnedDescriptor(OwnedDescriptor &&other) noexcept
      : library(other.library), value(std::exchange(other.value, nullptr)) {}
  OwnedDescriptor &operator=(OwnedDescriptor &&other) noexcept {
    std::swap(library, other.library);
    std::swap(value, other.value);
    return *this;
  }
  ~OwnedDescriptor() {
    if (value)
      library->cudnnBackendDestroyDescriptor(value);
  }

  Descriptor get() const { return value; }

private:
  const Library *library = nullptr;
  Descriptor value = nullptr;
};

/// Sets attributes one after the other. The first error ends that, and
/// `finalize` returns it.
class DescriptorBuilder {
public:
  DescriptorBuilder(const Library &library, DescriptorType type);

  template <typename T>
  DescriptorBuilder &set(int name, AttributeType type,
                         llvm::ArrayRef<T> values) {
    return setBytes(name, type, values.size(), values.data());
  }
  template <typename T>
  DescriptorBuilder &set(int name, AttributeType type, const T &value) {
    return setBytes(name, type, 1, &value);
  }
  DescriptorBuilder &set(int name, llvm::ArrayRef<int64_t> values) {
    return set(name, typeInt64, values);
  }
  DescriptorBuilder &set(int name, const OwnedDescriptor &other) {
    return set(name, typeDescriptor, other.get());
  }
  llvm::Expected<OwnedDescriptor> finalize();

private:
  DescriptorBuilder &setBytes(int name, AttributeType type, int64_t count,
                              const void *values);

  const Library &library;
  OwnedDescriptor descriptor;
  std::string problem;
};

} // namespace mp::cuda::dnn

#endif // MP_RUNTIME_CUDA_CUDNNDESCRIPTOR_H
