//===- GraphRun.h - runs a graph of the DSL in a test ---------------------===//
#ifndef MP_TEST_UNIT_GRAPHRUN_H
#define MP_TEST_UNIT_GRAPHRUN_H

#include "GoldenFunction.h"
#include "dsl/Graph.h"

namespace mp::test {

template <typename T> T check(llvm::Expected<T> value) {
  if (!value)
    llvm::report_fatal_error(value.takeError());
  return std::move(*value);
}

/// The numbers of a golden.
inline std::vector<float> read(const llvm::json::Array &array) {
  std::vector<float> numbers;
  for (const llvm::json::Value &value : array)
    numbers.push_back(*value.getAsNumber());
  return numbers;
}

/// The results of a graph, as it trains, for these inputs.
inline std::vector<Numbers> run(const mantissa::Graph &net,
                                llvm::ArrayRef<Numbers> inputs,
                                unsigned threads = 1, Device device = {}) {
  auto function = check(
      GoldenFunction::compile(check(net.text(false)), "", device, threads));
  return check(function(inputs));
}

} // namespace mp::test

#endif // MP_TEST_UNIT_GRAPHRUN_H
