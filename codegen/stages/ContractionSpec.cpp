//===- ContractionSpec.cpp - a matrix product, for any target -------------===//
#include "codegen/stages/ContractionSpec.h"
#include "dialect/Mp.h"

using namespace mp;

uint64_t ContractionSpec::flops() const {
  uint64_t products = 1;
  for (int64_t size : batch)
    products *= size;
  return 2 * products * m * n * k;
}

std::vector<std::pair<std::string, Call::Attribute>>
mp::callAttributes(const ContractionSpec &spec) {
  auto strides = [](bool transposed, int64_t rows, int64_t columns) {
    return transposed ? std::vector<int64_t>{1, rows}
                      : std::vector<int64_t>{columns, 1};
  };
  std::vector<std::pair<std::string, Call::Attribute>> attributes = {
      {"m", spec.m},
      {"n", spec.n},
      {"k", spec.k},
      {"a_strides", strides(spec.transposeA, spec.m, spec.k)},
      {"b_strides", strides(spec.transposeB, spec.k, spec.n)},
      {"a_type", typeName(spec.a)},
      {"c_type", typeName(spec.c)},
      {"bias", int64_t(spec.bias.has_value())},
      {"relu", int64_t(spec.relu)}};
  if (spec.bias)
    attributes.emplace_back("bias_type", typeName(*spec.bias));
  return attributes;
}
