//===- Tensors.cpp - tensors, types and lists of them in C ----------------===//
#include "api/c/Enums.h"
#include "api/c/Handles.h"

using namespace llvm;
using namespace mantissa;
using namespace mantissa::c;

static_assert(MANTISSA_MAX_RANK == kMostDimensions);

Expected<NamedTensor> c::takeTensor(const mantissa_tensor &tensor,
                                    function_ref<std::string()> place) {
  if (!tensor.name)
    return argumentError("{0}.name is null", place());
  if (!mantissa_element_name(tensor.element))
    return takeElement(place() + ".element", tensor.element).takeError();
  if (tensor.rank < 0 || tensor.rank > MANTISSA_MAX_RANK)
    return argumentError("{0}.rank of '{1}' is {2}, expected 0 to {3}", place(),
                         tensor.name, tensor.rank, MANTISSA_MAX_RANK);
  TensorRef::Sizes shape(tensor.shape, tensor.rank), strides;
  if (tensor.strides)
    strides = TensorRef::Sizes(tensor.strides, tensor.rank);
  return NamedTensor{tensor.name, TensorRef(ElementType(tensor.element),
                                            tensor.data, shape, strides)};
}

mantissa_type c::typeOf(const TensorType &type) {
  mantissa_type view = {};
  view.element = int32_t(type.element);
  view.rank = type.shape.size();
  std::copy_n(type.shape.begin(),
              std::min<size_t>(view.rank, MANTISSA_MAX_RANK), view.shape);
  view.elements = type.elements();
  view.bytes = type.bytes();
  return view;
}

mantissa_infos::mantissa_infos(std::vector<TensorInfo> given)
    : infos(std::move(given)) {
  for (const TensorInfo &info : infos)
    types.push_back(info.type.str());
  for (auto [info, type] : zip_equal(infos, types))
    views.push_back({info.name.c_str(), info.kind.c_str(), type.c_str(),
                     c::typeOf(info.type)});
}

size_t mantissa_infos_count(const mantissa_infos *infos) {
  return infos ? infos->views.size() : 0;
}
const mantissa_info *mantissa_infos_get(const mantissa_infos *infos,
                                        size_t index) {
  return index < mantissa_infos_count(infos) ? &infos->views[index] : nullptr;
}
void mantissa_infos_destroy(mantissa_infos *infos) { delete infos; }
