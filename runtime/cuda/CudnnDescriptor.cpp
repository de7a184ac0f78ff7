//===- CudnnDescriptor.cpp - descriptors of cuDNN -------------------------===//
#include "runtime/cuda/CudnnDescriptor.h"

using namespace llvm;

namespace mp::cuda::dnn {

Expected<OwnedDescriptor> OwnedDescriptor::create(const Library &library,
                                                  DescriptorType type) {
  OwnedDescriptor made;
  made.library = &library;
  MP_CUDNN(library, cudnnBackendCreateDescriptor, type, &made.value);
  return std::move(made);
}

DescriptorBuilder::DescriptorBuilder(const Library &library,
                                     DescriptorType type)
    : library(library) {
  auto made = OwnedDescriptor::create(library, type);
  if (made)
    descriptor = std::move(*made);
  else
    problem = toString(made.takeError());
}

DescriptorBuilder &DescriptorBuilder::setBytes(int name, AttributeType type,
                                               int64_t count,
                                               const void *values) {
  if (!problem.empty())
    return *this;
  Status status = library.cudnnBackendSetAttribute(descriptor.get(), name, type,
                                                   count, values);
  if (Error error = library.check("cudnnBackendSetAttribute", status))
    problem = toString(std::move(error)) + " (attribute " +
              std::to_string(name) + ")";
  return *this;
}

Expected<OwnedDescriptor> DescriptorBuilder::finalize() {
  if (!problem.empty())
    return deviceError(problem);
  MP_CUDNN(library, cudnnBackendFinalize, descriptor.get());
  return std::move(descriptor);
}

} // namespace mp::cuda::dnn
