//===- PictureFiles.h - the pictures of a folder and their classes --------===//
#ifndef MP_RUNTIME_DATA_PICTUREFILES_H
#define MP_RUNTIME_DATA_PICTUREFILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mp {

/// The PNG and JPEG files of a folder that has a folder for each class. Classes
/// are in the order of their names, and so are the files of a class, as in
/// torchvision's ImageFolder.
struct PictureFiles {
  struct File {
    std::string path; ///< below the folder
    size_t number;    ///< of the class
  };
  std::string folder;
  std::vector<std::string> classes;
  std::vector<File> files;

  /// Returns the path of a file.
  std::string path(size_t file) const;

  /// Lists a folder. Files that are no pictures are left out, as are hidden
  /// ones. Errors name the folder or file: no folders in it, a class without
  /// pictures, a picture in a format that is not read.
  static llvm::Expected<PictureFiles> list(llvm::StringRef folder);
};

} // namespace mp

#endif // MP_RUNTIME_DATA_PICTUREFILES_H
