//===- ColumnFinder.cpp - the files of a column ---------------------------===//
#include "runtime/data/ColumnFinder.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Records.h"
#include "runtime/data/Tokens.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {

/// The names of the files or folders in a folder, sorted.
static Expected<std::vector<std::string>> listNames(StringRef folder,
                                                    bool folders) {
  std::error_code code;
  std::vector<std::string> names;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code))
    if (sys::fs::is_directory(it->path()) == folders)
      names.push_back(sys::path::filename(it->path()).str());
  if (code)
    return makeError("cannot open data folder {0}: {1}", folder,
                     code.message());
  llvm::sort(names);
  return names;
}

/// Describes a folder without a match by the nearest names. A pattern mostly
/// gives the start of a name, so only that is compared.
static std::string nearestNames(StringRef pattern,
                                std::vector<std::string> names,
                                StringRef kind) {
  if (names.empty())
    return ("it holds no " + kind + "s").str();
  std::string start(pattern);
  llvm::erase(start, '*');
  auto distance = [&](const std::string &name) {
    return StringRef(name).take_front(start.size()).edit_distance(start);
  };
  llvm::sort(names, [&](const std::string &a, const std::string &b) {
    return std::pair(distance(a), StringRef(a)) <
           std::pair(distance(b), StringRef(b));
  });
  return "nearest: " + quoteList(names, 3);
}

/// Whether a pattern of a module leads out of the data folder.
static bool leavesFolder(StringRef pattern) {
  return sys::path::is_absolute(pattern) ||
         is_contained(
             make_range(sys::path::begin(pattern), sys::path::end(pattern)),
             "..");
}

Expected<std::vector<std::string>>
findFiles(StringRef folder, StringRef pattern, Matches wanted) {
  if (leavesFolder(pattern))
    return makeError("pattern '{0}' leads out of the data folder {1}", pattern,
                     folder);
  SmallString<256> base(folder);
  if (StringRef folders = sys::path::parent_path(pattern); !folders.empty())
    sys::path::append(base, folders);
  StringRef last = sys::path::filename(pattern);
  bool folders = wanted == Matches::Folder;
  StringRef kind = folders ? "folder" : "file";
  Expected<std::vector<std::string>> names = listNames(base, folders);
  if (!names)
    return names.takeError();
  Expected<GlobPattern> glob = GlobPattern::create(last);
  if (!glob)
    return makeError("pattern '{0}': {1}", pattern, toString(glob.takeError()));
  std::vector<std::string> matches;
  llvm::copy_if(*names, std::back_inserter(matches),
                [&](const std::string &name) { return glob->match(name); });
  if (matches.size() > 1 && wanted != Matches::Files)
    return makeError("pattern '{0}' matches {1} {2}s in {3}, expected one: {4}",
                     pattern, matches.size(), kind, base, quoteList(matches));
  if (matches.empty())
    return makeError("no {0} in {1} matches '{2}' ({3})", kind, base, pattern,
                     nearestNames(last, *names, kind));
  for (std::string &name : matches) {
    SmallString<256> path(base);
    sys::path::append(path, name);
    name = path.str().str();
  }
  return matches;
}

Expected<Column> ColumnFinder::findRecords(const DataColumn &binding) {
  auto paths = findFiles(folder, binding.pattern, Matches::Files);
  if (!paths)
    return paths.takeError();
  auto type = peekRecords(*paths, binding);
  if (!type)
    return type.takeError();
  std::string shown = paths->size() == 1 ? paths->front()
                                         : folder.str() + "/" + binding.pattern;
  return Column{binding, std::move(shown), std::move(*paths), *type, {}};
}

/// Returns the largest number that a column of classes can hold.
static int64_t greatestClass(ElementType element) {
  switch (element) {
  case ElementType::U8:
    return UINT8_MAX;
  case ElementType::I8:
    return INT8_MAX;
  case ElementType::I16:
    return INT16_MAX;
  case ElementType::U16:
    return UINT16_MAX;
  default:
    return INT32_MAX;
  }
}

/// Returns the number of the class of each picture.
static Expected<Array> classesOf(const PictureFiles &pictures,
                                 const TensorType &type) {
  char *to;
  Array array = Array::allocate(type, &to);
  for (const PictureFiles::File &file : pictures.files) {
    storeElement(type.element, file.number, to);
    to += byteWidth(type.element);
  }
  return array;
}

Expected<Column> ColumnFinder::findPictures(const DataColumn &binding) {
  auto paths = findFiles(folder, binding.pattern, Matches::Folder);
  if (!paths)
    return paths.takeError();
  const std::string &path = paths->front();
  std::shared_ptr<const PictureFiles> &files = folders[path];
  if (!files) {
    auto listed = PictureFiles::list(path);
    if (!listed)
      return listed.takeError();
    files = std::make_shared<const PictureFiles>(std::move(*listed));
  }
  Column column{binding, path, {}, {}, {}};
  column.type = {binding.element, {static_cast<int64_t>(files->files.size())}};
  column.folder = files;
  if (binding.format == "images") {
    append_range(column.type.shape, binding.shape);
    column.pictures =
        std::make_shared<PictureReader>(files, binding.shape, pictures);
    return column;
  }
  int64_t last = files->classes.size() - 1;
  if (last > greatestClass(binding.element))
    return makeError("{0}: holds {1} classes, too many for {2}", path, last + 1,
                     elementTypeName(binding.element));
  return column;
}

Expected<Column> ColumnFinder::find(const DataColumn &binding) {
  // A column may come from a Program that nothing has verified.
  if (std::string mistake = columnMistake(binding); !mistake.empty())
    return makeError("column '{0}' {1}", binding.argument, mistake);
  if (binding.format == "records")
    return findRecords(binding);
  if (binding.format == "images" || binding.format == "classes")
    return findPictures(binding);
  auto paths = findFiles(folder, binding.pattern, Matches::File);
  if (!paths)
    return paths.takeError();
  auto type = binding.format == "tokens"
                  ? peekTokens(paths->front(), binding)
                  : peekType(paths->front(), binding.format, binding.key);
  if (!type)
    return type.takeError();
  return Column{binding, paths->front(), {}, std::move(*type), {}};
}

Expected<Array> readColumn(const Column &column) {
  const DataColumn &binding = column.binding;
  if (column.folder)
    return classesOf(*column.folder, column.type);
  if (!column.files.empty())
    return readRecords(column.files, binding);
  if (binding.format == "tokens")
    return readTokens(column.path, binding);
  return readArray(column.path, binding.format, binding.key);
}

} // namespace mp
