//===- CollectiveCase.h - collectives whose results a plain loop knows ----===//
//
// Each rank gives elements that are a function of the rank, the tensor and the
// place; what every rank must get follows element by element. The conversions
// are the runtime's, which go through APFloat.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_COLLECTIVECASE_H
#define MP_TEST_UNIT_COLLECTIVECASE_H

#include "runtime/data/Convert.h"
#include "runtime/ranks/OrderedReduce.h"
#include <cmath>
#include <cstring>

namespace mp::test {

/// A mixture of large and small values of both signs, so that another order of
/// additions gives other bits.
inline double collectiveValue(ElementType type, int64_t rank, size_t tensor,
                              int64_t index) {
  uint64_t bits = (rank + 1) * 0x9e3779b97f4a7c15u ^ (tensor + 3) * 0x85ebca6bu;
  bits = (bits + index) * 0xff51afd7ed558ccdu;
  bits ^= bits >> 29;
  if (type == ElementType::I1)
    return bits & 1;
  if (!isFloat(type))
    return bits % 100;
  return std::ldexp(1.0 + (bits % 1021) / 1024.0, int(bits >> 40) % 12) *
         (bits & 1024 ? 1 : -1);
}

/// One rank's reduction of two elements; integers fit in a double.
inline double reduceTwo(Collective::Reduction reduction, ElementType type,
                        double a, double b) {
  switch (reduction) {
  case Collective::Reduction::Sum:
    return type == ElementType::F64 || !isFloat(type) ? a + b
                                                      : float(a) + float(b);
  case Collective::Reduction::Max:
    return b > a || b != b ? b : a;
  case Collective::Reduction::Or:
    return int(a) | int(b);
  }
  return 0;
}

using Bytes = std::vector<char>;

struct CollectiveCase {
  Collective collective;
  int64_t size;

  std::vector<Bytes> given(int64_t rank) const {
    std::vector<Bytes> tensors;
    unsigned width = byteWidth(collective.element);
    for (size_t t = 0; t < collective.elements.size(); ++t) {
      tensors.emplace_back(collective.elements[t] * width);
      for (int64_t i = 0; i < collective.elements[t]; ++i)
        storeElement(collective.element,
                     collectiveValue(collective.element, rank, t, i),
                     tensors[t].data() + i * width);
    }
    return tensors;
  }
  std::vector<Bytes> room() const {
    std::vector<Bytes> tensors;
    for (size_t t = 0; t < collective.elements.size(); ++t)
      tensors.emplace_back(collective.elementsOut(t, size) *
                           byteWidth(collective.element));
    return tensors;
  }
  /// The bytes that a rank must get of a tensor.
  Bytes expected(int64_t rank, size_t tensor) const {
    unsigned width = byteWidth(collective.element);
    int64_t elements = collective.elements[tensor];
    Bytes result(collective.elementsOut(tensor, size) * width);
    for (int64_t i = 0; i < int64_t(result.size() / width); ++i)
      if (collective.reduces())
        reduceAt(tensor,
                 collective.kind == Collective::Kind::ReduceScatter
                     ? rank * (elements / size) + i
                     : i,
                 result.data() + i * width);
      else if (collective.kind == Collective::Kind::AllGather)
        storeElement(collective.element,
                     stored(i / elements, tensor, i % elements),
                     result.data() + i * width);
      else
        storeElement(collective.element, stored(collective.root, tensor, i),
                     result.data() + i * width);
    return result;
  }

private:
  /// A value as its type holds it.
  double stored(int64_t rank, size_t tensor, int64_t index) const {
    char bytes[8];
    storeElement(collective.element,
                 collectiveValue(collective.element, rank, tensor, index),
                 bytes);
    return loadElement(collective.element, bytes);
  }
  void reduceAt(size_t tensor, int64_t index, char *to) const {
    double total = stored(0, tensor, index);
    for (int64_t rank = 1; rank < size; ++rank)
      total = reduceTwo(collective.reduction, collective.element, total,
                        stored(rank, tensor, index));
    storeElement(collective.element, total, to);
  }
};

/// Every kind with every reduction and type that there is, of three tensors
/// with `elements`, about half of it and one element a rank.
inline std::vector<Collective> everyCollective(int64_t size, int64_t elements) {
  using enum Collective::Kind;
  using enum ElementType;
  std::vector<Collective> all;
  for (auto kind : {AllReduce, AllGather, ReduceScatter, Broadcast})
    for (auto reduction :
         {Collective::Reduction::Sum, Collective::Reduction::Max,
          Collective::Reduction::Or})
      for (auto type :
           {I1, I8, U8, I32, I64, F16, BF16, F32, F64, I16, U16, U32}) {
        Collective one{
            kind, reduction, type, size - 1, {elements, elements / 2, 1}};
        if (kind == ReduceScatter)
          for (int64_t &count : one.elements)
            count *= size;
        if (one.reduces() ? canReduce(reduction, type)
                          : reduction == Collective::Reduction::Sum)
          all.push_back(one);
      }
  return all;
}

inline std::vector<const void *> readable(const std::vector<Bytes> &tensors) {
  std::vector<const void *> addresses;
  for (const Bytes &tensor : tensors)
    addresses.push_back(tensor.data());
  return addresses;
}
inline std::vector<void *> writable(std::vector<Bytes> &tensors) {
  std::vector<void *> addresses;
  for (Bytes &tensor : tensors)
    addresses.push_back(tensor.data());
  return addresses;
}

} // namespace mp::test

#endif // MP_TEST_UNIT_COLLECTIVECASE_H
