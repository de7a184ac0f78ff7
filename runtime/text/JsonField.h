//===- JsonField.h - values of a JSON file and their places ---------------===//
#ifndef MP_RUNTIME_TEXT_JSONFIELD_H
#define MP_RUNTIME_TEXT_JSONFIELD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace mp::tokenizers {

/// A value of a file, and its place in it for messages: "model.merges[3]". It
/// has no value if it is missing or null. As in LLVM's parsers, what returns
/// true has failed; the first failure is kept in `problem`.
class JsonField {
public:
  JsonField(const llvm::json::Value *value, std::string place,
            std::string &problem)
      : value(value && value->kind() != llvm::json::Value::Null ? value
                                                                : nullptr),
        place(std::move(place)), problem(&problem) {}

  explicit operator bool() const { return value != nullptr; }
  bool isString() const { return value && value->getAsString(); }
  /// Fails with a message about this value.
  bool fail(const llvm::Twine &message) const;
  bool expected(const llvm::Twine &what) const;

  /// Fails unless it is an object.
  bool isNoObject() const;
  /// Returns a member of an object, which may be missing.
  JsonField operator[](llvm::StringRef name) const;
  /// Calls `each` for the members of an object, until one fails.
  bool members(
      llvm::function_ref<bool(llvm::StringRef, const JsonField &)> each) const;
  bool elements(llvm::function_ref<bool(const JsonField &)> each) const;

  bool read(std::string &text) const;
  bool read(uint64_t &number) const;
  bool read(bool &flag) const;
  bool read(double &number) const;
  /// Keeps what `to` holds if the value is missing.
  template <typename T> bool readIfThere(T &to) const {
    return value && read(to);
  }

private:
  const llvm::json::Value *value;
  std::string place;
  std::string *problem;
};

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_JSONFIELD_H
