//===- CudnnDescriptor.cpp - descriptors of the emulated cuDNN ------------===//
//
// Stricter than cuDNN in one point: an attribute of another type than its own
// is always an error.
//
//===----------------------------------------------------------------------===//

#include "CudnnDescriptor.h"
#include "Call.h"

#include <algorithm>

namespace mp::emulator {

namespace {
enum : int {
  Handle = 0,
  DataType = 1,
  Boolean = 2,
  Int64 = 3,
  Float = 4,
  Pointer = 6,
  ConvolutionMode = 7,
  HeuristicsMode = 8,
  PointwiseMode = 14,
  Descriptor = 15,
};

struct Rule {
  CudnnKind kind;
  int name, type;
  int64_t least, most;
  bool required;
};
constexpr int64_t many = 64;
using K = CudnnKind;
constexpr Rule rules[] = {
    {K::Pointwise, 0, PointwiseMode, 1, 1, true},
    {K::Pointwise, 1, DataType, 1, 1, true},
    {K::Convolution, 100, DataType, 1, 1, true},
    {K::Convolution, 101, ConvolutionMode, 1, 1, true},
    {K::Convolution, 102, Int64, 1, 8, true},
    {K::Convolution, 103, Int64, 1, 8, true},
    {K::Convolution, 104, Int64, 1, 8, true},
    {K::Convolution, 105, Int64, 1, 8, true},
    {K::Convolution, 106, Int64, 1, 1, true},
    {K::Heuristics, 200, HeuristicsMode, 1, 1, true},
    {K::Heuristics, 201, Descriptor, 1, 1, true},
    {K::Plan, 400, Handle, 1, 1, true},
    {K::Plan, 401, Descriptor, 1, 1, true},
    {K::Forward, 700, Float, 1, 1, true},
    {K::Forward, 701, Float, 1, 1, true},
    {K::Forward, 702, Descriptor, 1, 1, true},
    {K::Forward, 703, Descriptor, 1, 1, true},
    {K::Forward, 704, Descriptor, 1, 1, true},
    {K::Forward, 705, Descriptor, 1, 1, true},
    {K::BackwardData, 706, Float, 1, 1, true},
    {K::BackwardData, 707, Float, 1, 1, true},
    {K::BackwardData, 708, Descriptor, 1, 1, true},
    {K::BackwardData, 709, Descriptor, 1, 1, true},
    {K::BackwardData, 710, Descriptor, 1, 1, true},
    {K::BackwardData, 711, Descriptor, 1, 1, true},
    {K::BackwardFilter, 712, Float, 1, 1, true},
    {K::BackwardFilter, 713, Float, 1, 1, true},
    {K::BackwardFilter, 714, Descriptor, 1, 1, true},
    {K::BackwardFilter, 715, Descriptor, 1, 1, true},
    {K::BackwardFilter, 716, Descriptor, 1, 1, true},
    {K::BackwardFilter, 717, Descriptor, 1, 1, true},
    {K::OperationPointwise, 750, Descriptor, 1, 1, true},
    {K::OperationPointwise, 751, Descriptor, 1, 1, true},
    {K::OperationPointwise, 752, Descriptor, 1, 1, false},
    {K::OperationPointwise, 753, Descriptor, 1, 1, true},
    {K::Graph, 800, Handle, 1, 1, true},
    {K::Graph, 801, Descriptor, 1, many, true},
    {K::Tensor, 900, Int64, 1, 1, true},
    {K::Tensor, 901, DataType, 1, 1, true},
    {K::Tensor, 902, Int64, 1, 8, true},
    {K::Tensor, 903, Int64, 1, 8, true},
    {K::Tensor, 906, Int64, 1, 1, true},
    {K::Tensor, 907, Boolean, 1, 1, false},
    {K::VariantPack, 1000, Int64, 1, many, true},
    {K::VariantPack, 1001, Pointer, 1, many, true},
    {K::VariantPack, 1003, Pointer, 1, 1, true},
};
} // namespace

CudnnFault checkAttribute(CudnnKind kind, int name, int type, int64_t count) {
  for (const Rule &rule : rules)
    if (rule.kind == kind && rule.name == name) {
      if (rule.type != type)
        return format("attribute %d has type %d, not %d", name, rule.type,
                      type);
      return count >= rule.least && count <= rule.most
                 ? ""
                 : format("attribute %d cannot have %lld values", name,
                          static_cast<long long>(count));
    }
  return format("a descriptor of kind %d has no attribute %d",
                static_cast<int>(kind), name);
}

static CudnnFault checkTensor(const CudnnDescriptor &tensor) {
  auto sizes = tensor.list<int64_t>(902), strides = tensor.list<int64_t>(903);
  if (sizes.size() != strides.size())
    return "a tensor has as many strides as dimensions";
  for (auto *list : {&sizes, &strides})
    if (std::any_of(list->begin(), list->end(),
                    [](int64_t number) { return number < 1; }))
      return "a dimension or a stride is not positive";
  int type = tensor.value<int>(901);
  if (type != 0 && type != 2 && type != 9)
    return format("the emulator has no data type %d", type);
  int64_t width = type == 0 ? 4 : 2, alignment = tensor.value<int64_t>(900);
  return alignment < width || alignment % width
             ? format("an element has no alignment of %lld",
                      static_cast<long long>(alignment))
             : "";
}

static CudnnFault checkWindow(const CudnnDescriptor &window) {
  for (int name : {102, 103, 104, 105})
    if (static_cast<int64_t>(window.list<int64_t>(name).size()) !=
        window.value<int64_t>(106))
      return format("attribute %d has another length than there are "
                    "spatial dimensions",
                    name);
  return "";
}

/// `first` is the name of alpha.
static CudnnFault checkConvolution(const CudnnDescriptor &op, int first) {
  const CudnnDescriptor &window = op.at(first + 2), &w = op.at(first + 3),
                        &x = op.at(first + 4), &y = op.at(first + 5);
  auto ws = w.list<int64_t>(902), xs = x.list<int64_t>(902),
       ys = y.list<int64_t>(902);
  if (ws.size() != 4 || xs.size() != 4 || ys.size() != 4)
    return "the emulator convolves tensors of four dimensions";
  bool good = xs[0] == ys[0] && ys[1] == ws[0] && xs[1] % ws[1] == 0 &&
              ws[0] % (xs[1] / ws[1]) == 0;
  for (int dim : {0, 1}) {
    int64_t span = (ws[2 + dim] - 1) * window.list<int64_t>(102)[dim] + 1;
    int64_t room = xs[2 + dim] + window.list<int64_t>(104)[dim] +
                   window.list<int64_t>(105)[dim] - span;
    good = good && room >= 0 &&
           ys[2 + dim] == room / window.list<int64_t>(103)[dim] + 1;
  }
  return good ? "" : "the tensors are not those of one convolution";
}

static CudnnFault checkGraph(const CudnnDescriptor &graph) {
  auto &operations = graph.attributes.at(801).descriptors;
  if (operations.size() == 1)
    return "";
  bool fused = operations.size() == 2 &&
               operations[0]->kind == CudnnKind::Forward &&
               operations[1]->kind == CudnnKind::OperationPointwise;
  if (!fused)
    return "the emulator has a convolution, and a sum after a forward one";
  const CudnnDescriptor &sums = operations[0]->at(705);
  return sums.value<bool>(907) && sums.value<int64_t>(906) ==
                                      operations[1]->at(751).value<int64_t>(906)
             ? ""
             : "a virtual tensor connects two operations";
}

CudnnFault checkDescriptor(const CudnnDescriptor &descriptor) {
  for (const Rule &rule : rules)
    if (rule.kind == descriptor.kind && rule.required &&
        !descriptor.attributes.count(rule.name))
      return format("attribute %d is missing", rule.name);
  switch (descriptor.kind) {
  case CudnnKind::Tensor:
    return checkTensor(descriptor);
  case CudnnKind::Convolution:
    return checkWindow(descriptor);
  case CudnnKind::Forward:
    return checkConvolution(descriptor, 700);
  case CudnnKind::BackwardData:
    return checkConvolution(descriptor, 706);
  case CudnnKind::BackwardFilter:
    return checkConvolution(descriptor, 712);
  case CudnnKind::Graph:
    return checkGraph(descriptor);
  case CudnnKind::VariantPack:
    return descriptor.attributes.at(1000).count ==
                   descriptor.attributes.at(1001).count
               ? ""
               : "a pack has as many pointers as tensors";
  default:
    return "";
  }
}

} // namespace mp::emulator
