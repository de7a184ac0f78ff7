//===- Handles.h - what the handles of C hold -------------------*- C++ -*-===//
#ifndef MP_API_C_HANDLES_H
#define MP_API_C_HANDLES_H

#include "api/c/Call.h"
#include "api/run/OneThread.h"
#include "mantissa.h"

struct mantissa_status {
  mantissa_code code;
  std::string message;
};

struct mantissa_module {
  mantissa::Module module;
};

struct mantissa_infos {
  explicit mantissa_infos(std::vector<mantissa::TensorInfo> infos);

  std::vector<mantissa::TensorInfo> infos;
  std::vector<std::string> types;
  std::vector<mantissa_info> views; ///< of the two
};

/// The results of the step's last run, or of its last prediction.
struct mantissa_results {
  mantissa_step *step;
  bool isTraining;
  mantissa::StepResults values = {}; ///< of a prediction, without the numbers
};

struct mantissa_step {
  explicit mantissa_step(mantissa::Step made);

  mantissa::Step step;
  std::string device;
  /// Guards all that is here, as mantissa::Step guards itself.
  mantissa::OneThread users;
  std::vector<mantissa::NamedTensor> inputs; ///< of the call that runs
  mantissa_results trained{this, true}, predicted{this, false};
  /// The one that can be read; null where the state has changed since.
  const mantissa_results *current = nullptr;
};

struct mantissa_generator {
  explicit mantissa_generator(mantissa::Generator made);

  mantissa::Generator generator;
  std::string device;
  mantissa::OneThread users;                   ///< guards all that is here
  std::vector<mantissa_written_token> written; ///< by the last call
};

namespace mantissa::c {

/// Whether a call overwrites results that the step still holds.
enum class Effect { KeepsResults, EndsResults };

/// Runs the body of a function on a step, unless another thread uses it.
mantissa_status *call(mantissa_step *step, Effect effect,
                      std::initializer_list<Needed> needed,
                      llvm::function_ref<llvm::Error()> body);

mantissa_status *call(mantissa_generator *generator,
                      std::initializer_list<Needed> needed,
                      llvm::function_ref<llvm::Error()> body);

/// What a view of the caller's describes; `place` names it if it has no name.
llvm::Expected<NamedTensor> takeTensor(const mantissa_tensor &tensor,
                                       llvm::function_ref<std::string()> place);
mantissa_type typeOf(const TensorType &type);

} // namespace mantissa::c

#endif // MP_API_C_HANDLES_H
