//===- SmallModule.h - a classifier that trains in no time ------*- C++ -*-===//
#ifndef MP_TEST_UNIT_API_SMALLMODULE_H
#define MP_TEST_UNIT_API_SMALLMODULE_H

#include "mantissa.h"
#include <cmath>
#include <gtest/gtest.h>

namespace mantissa::test {

/// Four features, three classes, one linear layer, plain SGD.
inline constexpr const char *kSmallModule = R"(
module @small {
  mp.variable @fc.weight : tensor<3x4xf32> = #mp.init<kaiming_uniform>
  mp.variable @fc.bias : tensor<3xf32> = #mp.init<zeros>
  func.func @loss(%x: tensor<?x4xf32> {mp.name = "x"}, %label: tensor<?xui8> {mp.name = "label"})
      -> (tensor<f32> {mp.name = "loss"}) {
    %w = mp.read @fc.weight : tensor<3x4xf32>
    %b = mp.read @fc.bias : tensor<3xf32>
    %logits = mp.linear %x, %w, %b : tensor<?x4xf32>, tensor<3x4xf32>, tensor<3xf32>
    %loss = mp.cross_entropy %logits, %label : tensor<?x3xf32>, tensor<?xui8>
    return %loss : tensor<f32>
  }
  mp.train @step of @loss {
    mp.minimize result(0) {params = ["*"], optimizer = #mp.sgd<lr = 0.5>}
  }
}
)";

inline constexpr int64_t kRows = 6;

/// Points that a linear classifier separates.
struct SmallData {
  std::vector<float> x;
  std::vector<uint8_t> label;
  explicit SmallData(int64_t rows = kRows) {
    for (int64_t i = 0; i < rows; ++i) {
      label.push_back(i % 3);
      for (int64_t k = 0; k < 4; ++k)
        x.push_back(k == i % 3 ? 1.0f + 0.125f * i : 0.25f * k);
    }
  }
  TensorRef points() const {
    return TensorRef(ElementType::F32, x.data(), {int64_t(label.size()), 4});
  }
};

/// Ends the program with the message of a failure.
inline void check(llvm::Error error) {
  if (error)
    llvm::report_fatal_error(std::move(error));
}
template <typename T> T check(llvm::Expected<T> value) {
  check(value.takeError());
  return std::move(*value);
}
/// The message of a failure; "" if there is none.
template <typename T> std::string messageOf(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}
inline std::string messageOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

inline Step smallStep(StepOptions options = {}) {
  options.batch = options.batch ? options.batch : kRows;
  options.threads = 1;
  return check(
      check(Module::parse(kSmallModule, "small.mlir")).compileStep(options));
}

inline StepResults train(Step &step, const SmallData &data) {
  return check(step.run({{"x", data.points()}, {"label", data.label}}));
}

} // namespace mantissa::test

#endif // MP_TEST_UNIT_API_SMALLMODULE_H
