//===- Options.h - the options of C as those of C++ -------------*- C++ -*-===//
#ifndef MP_API_C_OPTIONS_H
#define MP_API_C_OPTIONS_H

#include "mantissa-c.h"
#include "mantissa.h"

namespace mantissa::c {

/// Sets `options` to those of a caller; null stands for the first values.
/// Errors: a size, an enumeration or a list that the header does not allow.
llvm::Error takeOptions(const mantissa_step_options *given,
                        StepOptions &options);
llvm::Error takeOptions(const mantissa_run_options *given, RunOptions &options);
llvm::Error takeOptions(const mantissa_sampling_options *given,
                        SamplingOptions &options);

/// The parts that both of a step have.
llvm::Expected<std::optional<Device>> takeDevice(mantissa_device device,
                                                 int32_t index);
std::function<void(llvm::StringRef)> takeNotes(mantissa_note_function function,
                                               void *data);

} // namespace mantissa::c

#endif // MP_API_C_OPTIONS_H
