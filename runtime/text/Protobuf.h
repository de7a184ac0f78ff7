//===- Protobuf.h - reads messages of Protocol Buffers --------------------===//
//
// The encoding of https://protobuf.dev/programming-guides/encoding. Nothing is
// copied: what is read lies within the bytes that are given.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TEXT_PROTOBUF_H
#define MP_RUNTIME_TEXT_PROTOBUF_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <optional>
#include <string>

namespace mp::tokenizers {

class ProtobufField;

/// A message, and its place for errors: "pieces[3]". As in LLVM's parsers, what
/// returns true has failed; the first failure is kept in `problem`.
class ProtobufMessage {
public:
  ProtobufMessage(llvm::StringRef bytes, std::string &problem,
                  llvm::StringRef name = "", std::optional<size_t> index = {})
      : bytes(bytes), name(name), index(index), problem(&problem) {}

  /// Calls `each` for the fields in their order, until one fails. A field that
  /// is there more than once is read as often: the last one counts.
  bool fields(llvm::function_ref<bool(const ProtobufField &)> each) const;
  /// Fails with a message about this one, or about a field of it.
  bool fail(const llvm::Twine &message, llvm::StringRef field = "") const;

private:
  bool takeField(llvm::StringRef &rest, ProtobufField &field) const;

  llvm::StringRef bytes, name;
  std::optional<size_t> index;
  std::string *problem;
};

/// A field, which files give a number; the reader knows its name. `read` fails
/// unless the field has such a value.
class ProtobufField {
public:
  /// The ways to write a value ("wire types") that are in use.
  enum class Kind { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

  explicit ProtobufField(const ProtobufMessage &of) : of(&of) {}

  bool fail(llvm::StringRef name, const llvm::Twine &message) const {
    return of->fail(message, name);
  }
  bool read(llvm::StringRef name, uint64_t &value) const;
  bool read(llvm::StringRef name, bool &value) const;
  bool read(llvm::StringRef name, float &value) const; ///< not inf or NaN
  bool read(llvm::StringRef name, llvm::StringRef &value) const;

  uint64_t number = 0;

private:
  friend ProtobufMessage;

  const ProtobufMessage *of;
  Kind kind = Kind::Varint;
  uint64_t value = 0;    ///< unless it is bytes
  llvm::StringRef bytes; ///< or a text, or a message
};

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_PROTOBUF_H
