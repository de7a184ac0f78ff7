//===- Safetensors.h - named tensors in a file ----------------------------===//
#ifndef MP_RUNTIME_DATA_SAFETENSORS_H
#define MP_RUNTIME_DATA_SAFETENSORS_H

#include "runtime/data/TensorTable.h"
#include <functional>
#include <map>
#include <string>

namespace mp {

/// The content of a safetensors file. The tensors point into the mapped file.
/// `tensors` lacks those of dtypes that Mantissa does not have.
struct Safetensors {
  std::string path;
  TensorTable tensors;
  std::map<std::string, std::string> metadata;
  bool hasDigests = false; ///< its content was compared with them
  std::shared_ptr<const MappedFile> source; ///< the file of this content

  /// Fails if tensors that were read so far may have changed in the file.
  llvm::Error check() const {
    return source ? source->check() : llvm::Error::success();
  }
  /// Returns the tensor `key`, or the only one if `key` is empty. An error
  /// lists the tensors of the file.
  llvm::Expected<Array> only(llvm::StringRef key) const;
  /// Returns the names of all tensors in order.
  std::vector<std::string> names() const { return tensors.names(); }
  /// Fails if the tensor `name`, or any if it is empty, is of a dtype that
  /// Mantissa does not have. The error names it.
  llvm::Error checkUsable(llvm::StringRef name = "") const;
};

/// Reads and validates a safetensors file
/// (https://huggingface.co/docs/safetensors, "Format"). The tensors must cover
/// the data without gap or overlap. If the file has digests, a header or a
/// tensor that differs from them is an error. A header costs at most four times
/// its bytes.
llvm::Expected<Safetensors> readSafetensors(llvm::StringRef path);

/// A tensor to be written. Its type.bytes() bytes are given, or `view` calls a
/// function with them when they are written.
struct NamedTensor {
  std::string name;
  TensorType type;
  llvm::ArrayRef<char> bytes;
  std::function<llvm::Error(llvm::function_ref<void(llvm::ArrayRef<char>)>)>
      view = {};
};

/// Whether a file gets metadata from which a reader sees that bytes of it have
/// changed: XXH3 hashes of the header and of each 4 MiB of a
/// tensor.
enum class Digests { None, Written };

/// Writes a safetensors file atomically: the tensors of the widest elements
/// first, then by name, so that each is aligned.
llvm::Error writeSafetensors(llvm::StringRef path,
                             std::vector<NamedTensor> tensors,
                             std::map<std::string, std::string> metadata,
                             Digests digests = Digests::None);

} // namespace mp

#endif // MP_RUNTIME_DATA_SAFETENSORS_H
