//===- StepImpl.h - what a Step holds ---------------------------*- C++ -*-===//
#ifndef MP_API_RUN_STEPIMPL_H
#define MP_API_RUN_STEPIMPL_H

#include "api/run/OneThread.h"
#include "mantissa.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/StepProgram.h"

namespace mantissa {

/// The tensors of a call in the order of an entry point's inputs. Holds memory
/// for them, so that a call allocates nothing.
class BoundInputs {
public:
  BoundInputs() = default;
  /// With micro-batches, a tensor has `parts` times the rows of the input.
  explicit BoundInputs(const mp::Entry &entry, int64_t parts = 1);

  /// Fails with the name of a tensor that is missing, unknown, given twice, not
  /// of its type, or with an element out of range.
  llvm::Error bind(NamedTensors tensors);
  /// Returns the inputs of a micro-batch.
  llvm::ArrayRef<mp::TensorView> part(int64_t index);

  /// The inputs as a caller gives them.
  std::vector<TensorInfo> describe() const;

private:
  const NamedTensor *find(size_t input, NamedTensors tensors) const;
  llvm::Error bind(size_t input, const TensorRef &tensor);
  llvm::Error otherNames(NamedTensors tensors) const;

  const mp::Entry *entry = nullptr;
  std::vector<TensorType> types; ///< of the caller's tensors
  std::vector<mp::TensorView> whole, views;
};

struct Step::Impl : OneThread {
  /// Compiles the step and initialises the state.
  static llvm::Expected<Step> create(mp::ModelOptions options,
                                     mp::Compiler compiler, int64_t batch,
                                     uint64_t seed);
  llvm::Error compile();
  llvm::Expected<BoundInputs *> predictor(int64_t rows);
  llvm::Error writeNumber(llvm::StringRef suffix, double value);
  llvm::Expected<double> readNumber(llvm::StringRef suffix);
  StepResults describe(const mp::Results &results);
  /// Fails if a checkpoint was made with settings that decide about bits and
  /// differ from those here.
  llvm::Error checkSettings(const mp::RunState &other) const;
  /// Fails with the nearest names.
  llvm::Expected<const mp::Variable *> find(llvm::StringRef variable) const;

  std::unique_ptr<mp::Model> model;
  mp::StepProgram program;
  mp::RunState state;
  bool lastWasSkipped = false;
  std::string recipe; ///< by which the step's own variables are called
  BoundInputs inputs;
  /// For each number of rows, how to predict.
  struct Prediction {
    mp::Executable *executable;
    BoundInputs inputs;
  };
  std::map<int64_t, Prediction> predictions;
};

} // namespace mantissa

#endif // MP_API_RUN_STEPIMPL_H
