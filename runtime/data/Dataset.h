//===- Dataset.h - the files that feed an entry point ---------------------===//
#ifndef MP_RUNTIME_DATA_DATASET_H
#define MP_RUNTIME_DATA_DATASET_H

#include "runtime/data/Array.h"
#include "runtime/data/PermutedCopy.h"
#include "runtime/data/PictureReader.h"

namespace mp {

/// One column of a data set: an argument and its samples, the slices of the
/// array along its first dimension, or pictures that are decoded when their
/// batch is gathered.
struct Column {
  DataColumn binding;
  std::string path; ///< for messages: of the file, the folder or several files
  std::vector<std::string> files; ///< of records
  TensorType type;                ///< of all samples: [samples, ...]
  /// Empty until it is read. Of tokens, all of the file.
  Array array;
  std::shared_ptr<PictureReader> pictures = nullptr;
  /// Of pictures, or of the classes of pictures.
  std::shared_ptr<const PictureFiles> folder = nullptr;
  uint64_t recordBytes = 0; ///< of a sample
  /// Where samples lie in the array: the first one, and each after the one
  /// before. Those of tokens may overlap.
  uint64_t firstByte = 0, strideBytes = 0;
  /// Copies a sample to the order of its argument, if that is another one.
  std::optional<PermutedCopy> reorder = {};
  /// Where a sample begins in the array.
  const char *find(int64_t sample) const;

  /// Returns the type of a sample as its argument takes it.
  TensorType sample() const;
};

/// The column that feeds an input of an entry point. Of the input, its range
/// counts, and not its shape.
struct BoundColumn {
  unsigned column;
  Input input;
};

/// The columns that feed the inputs of an entry point, in the order of
/// Entry::inputs.
using ColumnBinding = std::vector<BoundColumn>;

/// A data source of the module bound to the files of a folder.
class Dataset {
public:
  /// Finds the file of every column and checks its header, without reading the
  /// data. Errors: a pattern that matches no file or several, a header that is
  /// damaged, another element type than declared, a number of dimensions that
  /// `dims_in_files` does not permute, columns of different lengths, no
  /// samples.
  static llvm::Expected<Dataset> find(const DataSource &source,
                                      llvm::StringRef folder,
                                      const PictureOptions &pictures = {});
  /// Reads the data that `find` found, once. May run on another thread.
  llvm::Error read();
  /// Reads one column, if there is one for this argument.
  llvm::Error read(llvm::StringRef argument);
  /// Finds and reads the data.
  static llvm::Expected<Dataset> open(const DataSource &source,
                                      llvm::StringRef folder,
                                      const PictureOptions &pictures = {});

  int64_t samples() const { return count; }
  /// Texts that go on from batch to batch, each in a row of its own; 1: samples
  /// are independent.
  int64_t streams() const { return all.front().binding.window.streams; }
  /// Returns the names of the classes if they are folders, in their order.
  std::vector<std::string> classes() const;
  llvm::ArrayRef<Column> columns() const { return all; }
  /// Returns the column of an argument, or null.
  const Column *column(llvm::StringRef argument) const;
  /// Returns the name of the data source, with its place in the module.
  std::string str() const;

  /// Finds the column of each input by name. Errors: an input without a column,
  /// a sample whose shape or type is not the input's without its batch
  /// dimension, a value outside the input's range. An input whose samples are
  /// as long as `length` takes the beginnings of longer ones. The values are
  /// those of `samples`, or of all if it is empty.
  llvm::Expected<ColumnBinding>
  bind(const Entry &entry, int64_t length = 0,
       llvm::ArrayRef<int64_t> samples = {}) const;
  /// Does the same without looking at the values.
  llvm::Expected<ColumnBinding> match(const Entry &entry,
                                      int64_t length = 0) const;

  /// Copies the samples `rows` of a column to `to`, in this order, with their
  /// dimensions in the order of the argument. What is copied may be wrong if
  /// the column's file has changed: call `check` after the columns of a batch.
  /// Fails if a picture cannot be decoded.
  llvm::Error gather(unsigned column, llvm::ArrayRef<int64_t> rows,
                     char *to) const;
  /// Fails with FileChanged if what `gather` copied from a column is not, or
  /// may not be, what `bind` checked: its file has changed, or these `rows` of
  /// it, which were copied to `bytes`, hold values that its input does not
  /// take.
  llvm::Error check(unsigned column, const Input &input,
                    llvm::ArrayRef<int64_t> rows,
                    llvm::ArrayRef<char> bytes) const;
  /// Fails with FileChanged if the file of a column has changed.
  llvm::Error check() const;
  /// Returns the files that others have replaced. The samples are still those
  /// of the files that were opened.
  std::vector<std::string> replacedFiles() const;

private:
  std::string name;
  Location location; ///< of the data source
  std::vector<Column> all;
  int64_t count = 0;
};

/// Fails if the classes of a data set, in `folder`, are not those that `known`
/// names; either may have no names.
llvm::Error checkClasses(llvm::ArrayRef<std::string> known,
                         llvm::ArrayRef<std::string> found,
                         llvm::StringRef folder);

/// Fails if an element is outside of input.range and is not input.exempt. The
/// error names `file` and the sample, or what `unit` is otherwise, which has
/// `perSample` elements; `first` is the number of the first one.
llvm::Error checkRange(const Input &input, ElementType element,
                       llvm::ArrayRef<char> bytes, llvm::StringRef file,
                       int64_t perSample, llvm::StringRef unit = "sample",
                       int64_t first = 0);

} // namespace mp

#endif // MP_RUNTIME_DATA_DATASET_H
