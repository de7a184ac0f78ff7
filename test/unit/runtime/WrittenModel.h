//===- WrittenModel.h - a model of texts in a folder ------------*- C++ -*-===//
#ifndef MP_TEST_RUNTIME_WRITTENMODEL_H
#define MP_TEST_RUNTIME_WRITTENMODEL_H

#include "OnBothTargets.h"
#include "TestFiles.h"
#include "codegen/Compile.h"
#include "runtime/data/Safetensors.h"
#include "runtime/train/Generate.h"
#include <cmath>

namespace mp::test {

/// A module with weights, and what it says as it is written, of all tokens at
/// once. There are 16 different tokens.
class WrittenModel {
protected:
  EvalOptions options(const std::string &module, Device::Kind device,
                      const std::string &precision = "fp32") {
    EvalOptions options;
    options.module = folder.write("text.mlir", module);
    options.checkpoint = folder.path("weights.safetensors");
    options.precision = precision;
    options.device = device == Device::Kind::Cpu ? "cpu" : "cuda";
    options.batch = 2;
    options.threads = 1;
    return options;
  }

  /// Writes weights, and returns the logits of all tokens: of [texts, tokens,
  /// 16].
  std::vector<float> reference(const EvalOptions &options,
                               llvm::ArrayRef<tokenizers::Tokens> texts) {
    std::vector<uint16_t> tokens;
    for (const tokenizers::Tokens &text : texts)
      tokens.insert(tokens.end(), text.begin(), text.end());
    return predicted(options, texts.size(), {TensorView(tokens)});
  }

  /// Writes weights, and returns what the network predicts as it is written.
  std::vector<float> predicted(const EvalOptions &options, int64_t texts,
                               llvm::ArrayRef<TensorView> inputs) {
    ModelOptions wanted;
    wanted.module = options.module;
    wanted.device = options.device;
    wanted.threads = 1;
    wanted.compile.precision = options.precision;
    std::unique_ptr<Model> model =
        check(Model::open(std::move(wanted), compile, Session::create));
    Executable *predict = check(model->get(Goal::Predict, "predict", texts));
    llvm::cantFail(model->session().initialize(11));
    std::vector<NamedTensor> weights;
    std::deque<std::string> bytes;
    for (const Variable &variable : model->session().variables()) {
      if (variable.kind != VariableKind::Parameter)
        continue;
      std::string &own = bytes.emplace_back(variable.type.bytes(), '\0');
      llvm::cantFail(
          model->session().read(variable.name, {own.data(), own.size()}));
      weights.push_back({variable.name, variable.type, own});
    }
    llvm::cantFail(writeSafetensors(options.checkpoint, weights, {}));
    auto results = check(predict->run(inputs));
    llvm::ArrayRef<char> logits = results[0].bytes();
    auto *first = reinterpret_cast<const float *>(logits.data());
    return {first, first + logits.size() / sizeof(float)};
  }

  template <typename T> static T check(llvm::Expected<T> value) {
    if (!value)
      llvm::report_fatal_error(value.takeError());
    return std::move(*value);
  }

  TestFolder folder;
};

/// The largest difference of the logits of each text from those at token
/// `place` of texts of `length` tokens.
inline double farthest(llvm::ArrayRef<std::vector<float>> logits,
                       llvm::ArrayRef<float> all, size_t place, size_t length) {
  double largest = 0;
  for (size_t text = 0; text < logits.size(); ++text)
    for (size_t i = 0; i < 16; ++i)
      largest = std::max<double>(
          largest,
          std::abs(logits[text][i] - all[(text * length + place) * 16 + i]));
  return largest;
}

/// The name of a case, and the same with "CudaEmulated" behind it.
template <typename Case>
std::string nameOnTarget(
    const testing::TestParamInfo<std::tuple<Device::Kind, Case>> &info) {
  auto &[device, each] = info.param;
  return each.name + (device == Device::Kind::Cpu ? "" : "CudaEmulated");
}

} // namespace mp::test

#endif // MP_TEST_RUNTIME_WRITTENMODEL_H
