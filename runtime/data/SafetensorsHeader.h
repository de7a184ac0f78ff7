//===- SafetensorsHeader.h - reads the header of a safetensors file -------===//
#ifndef MP_RUNTIME_DATA_SAFETENSORSHEADER_H
#define MP_RUNTIME_DATA_SAFETENSORSHEADER_H

#include "runtime/data/TensorTable.h"
#include "support/JsonReader.h"
#include <map>

namespace mp {

/// Reads and validates a header, with the verdict of the Python package
/// `safetensors`, but for what its published format forbids: two tensors or
/// two metadata of one name, and tensors and dtypes in the spellings that its
/// JSON library takes besides objects and strings.
class SafetensorsHeader {
public:
  SafetensorsHeader(std::shared_ptr<const MappedFile> owner,
                    llvm::StringRef header, llvm::StringRef data);

  /// Fills `table` and `metadata`. Returns what is wrong, or "". Then the
  /// tensors lie in the data one after the other without gap.
  std::string read();
  /// Calls `visit(name, bytes)` for each tensor in the order of their data, and
  /// stops at the first that returns false.
  bool inOrderOfData(
      llvm::function_ref<bool(llvm::StringRef, llvm::ArrayRef<char>)> visit);
  /// Orders the table by name. Returns what is wrong, or "".
  std::string finish();

  TensorTable table;
  std::map<std::string, std::string> metadata;

private:
  /// The fields of a tensor's object, and which of them were seen.
  struct Fields {
    TensorTable::Entry entry = {};
    uint64_t elements = 1;
    uint64_t largest = 1; ///< of the products of the first sizes
    bool overflows = false;
    bool hasDtype = false, hasShape = false, hasOffsets = false;
  };

  bool document();
  bool readMetadata();
  bool tensor(const JsonReader::String &name);
  bool field(const JsonReader::String &key, Fields &fields);
  bool dtype(Fields &fields);
  bool shape(Fields &fields);
  bool offsets(Fields &fields);
  bool place(const JsonReader::String &name, Fields &fields);
  bool add(const JsonReader::String &name, Fields &fields);
  std::string checkCover();

  JsonReader json;
  bool hasMetadata = false;
  /// A failure that the text's place would not explain.
  std::string problem;
};

} // namespace mp

#endif // MP_RUNTIME_DATA_SAFETENSORSHEADER_H
