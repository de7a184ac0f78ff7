//===- TensorTable.h - the tensors that a file holds, by name -------------===//
#ifndef MP_RUNTIME_DATA_TENSORTABLE_H
#define MP_RUNTIME_DATA_TENSORTABLE_H

#include "runtime/data/Array.h"
#include <utility>

namespace mp {

/// A dtype of safetensors files.
struct SafetensorsDtype {
  llvm::StringLiteral name;
  unsigned bits;                      ///< of an element
  std::optional<ElementType> element; ///< none: Mantissa has no such type
};
llvm::ArrayRef<SafetensorsDtype> safetensorsDtypes();

/// The tensors of a safetensors file, in the order of their names: a map of
/// which nothing can be changed. It keeps 32 bytes for a tensor and reads the
/// rest from the file's header when it is asked, because a file may announce a
/// million of empty tensors.
class TensorTable {
public:
  /// A tensor's places: of its data, and in the header's text.
  struct Entry {
    uint64_t begin, end; ///< of the data
    uint32_t name, nameLength;
    uint32_t shape;  ///< of the array of its sizes
    uint8_t dtype;   ///< an index of safetensorsDtypes()
    bool hasEscapes; ///< the name lies in `unescaped`, not in the header
    /// Whether an Array can hold it: its dtype is one of Mantissa's, and its
    /// sizes do not overflow (a size of 0 lets the others be any).
    bool isUsable;
  };

  using value_type = std::pair<std::string, Array>;

  class iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using difference_type = ptrdiff_t;
    using value_type = TensorTable::value_type;
    using pointer = const value_type *;
    using reference = const value_type &;

    iterator(const TensorTable *table, size_t index)
        : table(table), index(index) {}
    const value_type &operator*() const;
    const value_type *operator->() const { return &**this; }
    iterator &operator++() {
      ++index;
      current.reset();
      return *this;
    }
    bool operator==(const iterator &other) const {
      return index == other.index;
    }

  private:
    const TensorTable *table;
    size_t index;
    mutable std::optional<value_type> current; ///< made when it is asked for
  };

  iterator begin() const { return {this, 0}; }
  iterator end() const { return {this, usable}; }
  iterator find(llvm::StringRef name) const;
  size_t count(llvm::StringRef name) const { return find(name) != end(); }
  /// `name` must be there.
  Array at(llvm::StringRef name) const;
  size_t size() const { return usable; }
  bool empty() const { return !usable; }

  /// The names of all tensors, also of those that no Array can hold.
  std::vector<std::string> names() const;
  /// Says why no Array can hold the tensor, or the first such tensor if `name`
  /// is empty: "tensor 'a' has dtype U16, expected ...". Returns "" if there is
  /// none.
  std::string whyUnusable(llvm::StringRef name = "") const;

private:
  friend class SafetensorsHeader;

  llvm::StringRef nameOf(const Entry &entry) const;
  Array arrayOf(const Entry &entry) const;
  llvm::ArrayRef<char> bytesOf(const Entry &entry) const {
    return {data.data() + entry.begin, entry.end - entry.begin};
  }
  /// Orders the entries for look-up: the usable ones first, by name.
  void index();

  std::shared_ptr<const MappedFile> owner;
  /// A copy: a mapped file may change, and the sizes that are read later must
  /// be those that were checked.
  std::shared_ptr<const std::string> text;
  llvm::StringRef header, data;
  std::string unescaped; ///< names that are not in the header as they are
  std::vector<Entry> entries;
  size_t usable = 0;
};

} // namespace mp

#endif // MP_RUNTIME_DATA_TENSORTABLE_H
