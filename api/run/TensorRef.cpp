//===- TensorRef.cpp - tensors in the caller's memory ---------------------===//
#include "mantissa.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"

using namespace llvm;

namespace mantissa {

TensorRef::TensorRef(ElementType element, const void *data, Sizes shape,
                     Sizes strides)
    : kind(element), address(data), rank(shape.size()) {
  size_t known = std::min(rank, kMostDimensions);
  std::copy_n(shape.begin(), known, sizes.begin());
  if (strides.empty())
    return;
  isDense = strides.size() == rank;
  // Unsigned, as the caller's numbers may be so large that products overflow.
  uint64_t dense = 1;
  for (size_t i = std::min(known, strides.size()); i-- > 0;) {
    steps[i] = strides[i];
    // A stride that is never taken may be anything.
    isDense &= sizes[i] == 1 || static_cast<uint64_t>(strides[i]) == dense;
    dense *= static_cast<uint64_t>(sizes[i]);
  }
}

int64_t TensorRef::size() const {
  int64_t elements = 1;
  for (int64_t size : shape())
    elements *= size;
  return elements;
}

std::string TensorRef::type() const {
  return TensorType{kind, shape().vec()}.str();
}

Error TensorRef::checkMemory(StringRef name) const {
  if (!address)
    return mp::makeError("'{0}': the view of {1} has no memory: its address is "
                         "null",
                         name, type());
  if (reinterpret_cast<uintptr_t>(address) % mp::byteWidth(kind))
    return mp::makeError("'{0}': the view of {1} begins at {2}, which is not "
                         "aligned to the {3} bytes of an element",
                         name, type(), address, mp::byteWidth(kind));
  if (available && int64_t(*available) != size())
    return mp::makeError(
        "'{0}': the view is of {1}, but there are {2} elements", name, type(),
        *available);
  return Error::success();
}

Error TensorRef::check(StringRef name, const TensorType &expected) const {
  if (rank > kMostDimensions)
    return mp::makeError("'{0}': the view has {1} dimensions, and {2} are the "
                         "most; expected {3}",
                         name, rank, kMostDimensions, expected.str());
  if (kind != expected.element || shape() != Sizes(expected.shape))
    return mp::makeError("'{0}' is {1}, expected {2}", name, type(),
                         expected.str());
  if (!isDense)
    return mp::makeError("'{0}': the strides of the view of {1} are [{2}] "
                         "elements, expected dense rows: copy it",
                         name, type(),
                         make_range(steps.begin(), steps.begin() + rank));
  return expected.elements() ? checkMemory(name) : Error::success();
}

StringRef Results::name(size_t index) const {
  return entry->results[index].name;
}

TensorRef Results::operator[](size_t index) const {
  const TensorType &type = results.type(index);
  return {type.element, results[index].data(), type.shape};
}

Expected<TensorRef> Results::find(StringRef wanted) const {
  for (size_t i = 0; i < size(); ++i)
    if (!wanted.empty() && name(i) == wanted)
      return (*this)[i];
  return results.find(wanted).takeError();
}

Expected<double> Results::number(StringRef wanted) const {
  auto found = find(wanted);
  if (!found)
    return found.takeError();
  if (found->size() != 1)
    return mp::makeError("'{0}' is {1}, not one number", wanted, found->type());
  return mp::loadElement(found->element(),
                         static_cast<const char *>(found->data()));
}

} // namespace mantissa
