//===- Status.cpp - errors, strings and the version in C ------------------===//
#include "api/c/Handles.h"
#include <cstring>

using namespace llvm;
using namespace mantissa::c;

static_assert(std::string_view(MANTISSA_VERSION) == MP_VERSION,
              "mantissa-c.h is of another version than the project");

//===----------------------------------------------------------------------===//
// Errors with a code
//===----------------------------------------------------------------------===//

namespace {
class CodedError : public ErrorInfo<CodedError> {
public:
  static char ID;
  CodedError(mantissa_code code, std::string message)
      : code(code), text(std::move(message)) {}

  void log(raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override {
    return inconvertibleErrorCode();
  }
  mantissa_code code;

private:
  std::string text;
};
char CodedError::ID;
} // namespace

namespace mantissa::c {

Error codedError(mantissa_code code, std::string message) {
  return make_error<CodedError>(code, std::move(message));
}

mantissa_status *statusOf(Error error) {
  if (!error)
    return nullptr;
  auto *status = new mantissa_status{MANTISSA_FAILED, {}};
  // Errors that were joined are a line each.
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    if (info.isA<CodedError>())
      status->code = static_cast<const CodedError &>(info).code;
    status->message += status->message.empty() ? "" : "\n";
    status->message += info.message();
  });
  return status;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Fails if an argument is null that has to be there.
static Error check(std::initializer_list<Needed> needed) {
  for (auto [name, pointer] : needed)
    if (!pointer)
      return argumentError("{0} is null", name);
  return Error::success();
}

mantissa_status *call(std::initializer_list<Needed> needed,
                      function_ref<Error()> body) {
  if (Error error = check(needed))
    return statusOf(std::move(error));
  return statusOf(body());
}

mantissa_status *call(mantissa_step *step, Effect effect,
                      std::initializer_list<Needed> needed,
                      function_ref<Error()> body) {
  if (!step)
    return statusOf(argumentError("step is null"));
  if (Error error = check(needed))
    return statusOf(std::move(error));
  OneThread::Lock lock(step->users);
  if (Error error = lock.take())
    return statusOf(codedError(MANTISSA_BUSY, toString(std::move(error))));
  if (effect == Effect::EndsResults)
    step->current = nullptr;
  return statusOf(body());
}

mantissa_status *call(mantissa_generator *generator,
                      std::initializer_list<Needed> needed,
                      function_ref<Error()> body) {
  if (!generator)
    return statusOf(argumentError("generator is null"));
  if (Error error = check(needed))
    return statusOf(std::move(error));
  OneThread::Lock lock(generator->users);
  if (Error error = lock.take("generator"))
    return statusOf(codedError(MANTISSA_BUSY, toString(std::move(error))));
  return statusOf(body());
}

Error takeStrings(const char *name, const char *const *strings, size_t count,
                  std::vector<std::string> &taken) {
  if (count && !strings)
    return argumentError("{0} is null, and {1} are to be there", name, count);
  if (count > kMostElements)
    return argumentError("{0}: {1} strings are more than {2}", name, count,
                         kMostElements);
  taken.clear();
  for (size_t i = 0; i < count; ++i) {
    if (!strings[i])
      return argumentError("{0}[{1}] is null", name, i);
    taken.push_back(strings[i]);
  }
  return Error::success();
}

char *newString(StringRef string) {
  char *made = new char[string.size() + 1];
  std::memcpy(made, string.data(), string.size());
  made[string.size()] = 0;
  return made;
}

} // namespace mantissa::c

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

const char *mantissa_version(void) { return MP_VERSION; }
uint32_t mantissa_abi_version(void) { return MANTISSA_ABI_VERSION; }

mantissa_code mantissa_status_code(const mantissa_status *status) {
  return status ? status->code : MANTISSA_OK;
}
const char *mantissa_status_message(const mantissa_status *status) {
  return status ? status->message.c_str() : "";
}
void mantissa_status_destroy(mantissa_status *status) { delete status; }
void mantissa_string_destroy(char *string) { delete[] string; }
