//===- TensorView.cpp - typed view of elements that others own ------------===//
#include "runtime/TensorView.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

std::vector<float> TensorView::floats() const {
  std::vector<float> numbers(size());
  convertElements(kind, held, ElementType::F32,
                  {reinterpret_cast<char *>(numbers.data()),
                   numbers.size() * sizeof(float)});
  return numbers;
}

Error TensorView::otherType(ElementType wanted) const {
  return makeError("the elements are {0}, not {1}; floats() converts them",
                   elementTypeName(kind), elementTypeName(wanted));
}

} // namespace mp
