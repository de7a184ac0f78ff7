//===- PictureFiles.cpp - the pictures of a folder and their classes ------===//
#include "runtime/data/PictureFiles.h"
#include "runtime/pictures/Picture.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {

/// Formats of pictures that other loaders read: leaving such files out in
/// silence would change the data.
static bool isOtherPicture(StringRef name) {
  constexpr StringLiteral ends[] = {".bmp", ".gif", ".tif",  ".tiff", ".webp",
                                    ".ppm", ".pgm", ".heic", ".avif"};
  return any_of(ends,
                [&](StringRef end) { return name.ends_with_insensitive(end); });
}

namespace {
struct Entries {
  std::vector<std::string> folders, files;
};
} // namespace

/// Returns what a folder holds, sorted by name, without hidden entries.
static Expected<Entries> entriesOf(StringRef folder) {
  Entries entries;
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code)) {
    StringRef name = sys::path::filename(it->path());
    if (name.starts_with("."))
      continue;
    bool isFolder = it->type() == sys::fs::file_type::directory_file ||
                    (it->type() != sys::fs::file_type::regular_file &&
                     sys::fs::is_directory(it->path()));
    (isFolder ? entries.folders : entries.files).push_back(name.str());
  }
  if (code)
    return makeError("cannot open folder {0}: {1}", folder, code.message());
  sort(entries.folders);
  sort(entries.files);
  return entries;
}

/// Adds the pictures of the last class in `below`, its folder or one within.
static Error addPictures(PictureFiles &all, StringRef below) {
  // A link can lead back to a folder above.
  constexpr unsigned kDeepest = 16;
  if (std::distance(sys::path::begin(below), sys::path::end(below)) > kDeepest)
    return makeError("{0}: more than {1} folders in one another", all.folder,
                     kDeepest);
  SmallString<256> folder(all.folder);
  sys::path::append(folder, below);
  auto entries = entriesOf(folder);
  if (!entries)
    return entries.takeError();
  auto within = [&](const std::string &name) {
    SmallString<128> path(below);
    sys::path::append(path, name);
    return path.str().str();
  };
  for (const std::string &name : entries->files) {
    if (isPictureName(name))
      all.files.push_back({within(name), all.classes.size() - 1});
    else if (isOtherPicture(name))
      return makeError("{0}/{1}: a picture that is not PNG or JPEG", folder,
                       name);
  }
  for (const std::string &name : entries->folders)
    if (Error error = addPictures(all, within(name)))
      return error;
  return Error::success();
}

std::string PictureFiles::path(size_t file) const {
  SmallString<256> path(folder);
  sys::path::append(path, files[file].path);
  return path.str().str();
}

Expected<PictureFiles> PictureFiles::list(StringRef folder) {
  auto entries = entriesOf(folder);
  if (!entries)
    return entries.takeError();
  PictureFiles all{folder.str(), {}, {}};
  if (entries->folders.empty())
    return makeError("{0}: holds no folders, expected one for each class with "
                     "its pictures",
                     folder);
  for (std::string &name : entries->folders) {
    // A checkpoint keeps the names, as text.
    if (!json::isUTF8(name))
      return makeError("{0}/{1}: the name of a class is not UTF-8", folder,
                       printableName(name));
    size_t before = all.files.size();
    all.classes.push_back(name);
    if (Error error = addPictures(all, name))
      return std::move(error);
    if (all.files.size() == before)
      return makeError("{0}/{1}: a class without PNG or JPEG files", folder,
                       name);
  }
  return all;
}

} // namespace mp
