//===- ColumnFinder.h - the files of a column -----------------------------===//
#ifndef MP_RUNTIME_DATA_COLUMNFINDER_H
#define MP_RUNTIME_DATA_COLUMNFINDER_H

#include "runtime/data/Dataset.h"
#include "llvm/ADT/StringMap.h"

namespace mp {

/// What a pattern may match.
enum class Matches { File, Files, Folder };

/// Returns the files of `folder` whose names match `pattern`, a shell glob that
/// may start with sub-folders, or the folder that does; sorted by name. An
/// error names the matches if there are several and there should be one, or
/// the nearest names.
llvm::Expected<std::vector<std::string>>
findFiles(llvm::StringRef folder, llvm::StringRef pattern, Matches wanted);

/// Finds the files of columns in a data folder, and reads their headers.
class ColumnFinder {
public:
  ColumnFinder(llvm::StringRef folder, const PictureOptions &pictures)
      : folder(folder), pictures(pictures) {}

  /// Returns the column with its files and its type. Whether they are what the
  /// column says is not checked.
  llvm::Expected<Column> find(const DataColumn &binding);

private:
  llvm::Expected<Column> findRecords(const DataColumn &binding);
  llvm::Expected<Column> findPictures(const DataColumn &binding);

  llvm::StringRef folder;
  PictureOptions pictures;
  /// By their path: pictures and their classes are two columns.
  llvm::StringMap<std::shared_ptr<const PictureFiles>> folders;
};

/// Reads all samples of a column without pictures.
llvm::Expected<Array> readColumn(const Column &column);

} // namespace mp

#endif // MP_RUNTIME_DATA_COLUMNFINDER_H
