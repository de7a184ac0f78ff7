//===- Dataset.cpp - the files that feed an entry point -------------------===//
#include "runtime/data/Dataset.h"
#include "runtime/InputCheck.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "support/Permutation.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {

/// The names of the files in a folder, sorted.
static Expected<std::vector<std::string>> listFiles(StringRef folder) {
  std::error_code code;
  std::vector<std::string> names;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code))
    if (!sys::fs::is_directory(it->path()))
      names.push_back(sys::path::filename(it->path()).str());
  if (code)
    return makeError("cannot open data folder {0}: {1}", folder,
                     code.message());
  llvm::sort(names);
  return names;
}

/// Describes a folder without a match by the nearest names. A pattern mostly
/// gives the start of a name, so only that is compared.
static std::string nearestFiles(StringRef pattern,
                                std::vector<std::string> names) {
  if (names.empty())
    return "it holds no files";
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

Expected<std::string> findFile(StringRef folder, StringRef pattern) {
  if (leavesFolder(pattern))
    return makeError("pattern '{0}' leads out of the data folder {1}", pattern,
                     folder);
  SmallString<256> base(folder);
  if (StringRef folders = sys::path::parent_path(pattern); !folders.empty())
    sys::path::append(base, folders);
  StringRef last = sys::path::filename(pattern);
  Expected<std::vector<std::string>> names = listFiles(base);
  if (!names)
    return names.takeError();
  Expected<GlobPattern> glob = GlobPattern::create(last);
  if (!glob)
    return makeError("pattern '{0}': {1}", pattern, toString(glob.takeError()));
  std::vector<std::string> matches;
  llvm::copy_if(*names, std::back_inserter(matches),
                [&](const std::string &name) { return glob->match(name); });
  if (matches.size() > 1)
    return makeError(
        "pattern '{0}' matches {1} files in {2}, expected one: {3}", pattern,
        matches.size(), base, quoteList(matches));
  if (matches.empty())
    return makeError("no file in {0} matches '{1}' ({2})", base, pattern,
                     nearestFiles(last, *names));
  sys::path::append(base, matches.front());
  return base.str().str();
}

TensorType Column::sample() const {
  TensorType inFile = type;
  if (!binding.dimsInFiles.empty())
    inFile = type.permuted(inverse(binding.dimsInFiles));
  inFile.shape.erase(inFile.shape.begin());
  return inFile;
}

/// The copy of one sample, the dimensions of which follow that of the samples.
static PermutedCopy reorderSample(const TensorType &file,
                                  ArrayRef<int64_t> dimsInFiles) {
  std::vector<int64_t> dims = inverse(dimsInFiles);
  dims.erase(dims.begin());
  for (int64_t &dim : dims)
    --dim;
  return {{file.element, {file.shape.begin() + 1, file.shape.end()}}, dims};
}

/// Finds a column's file and checks its header.
static Expected<Column> findColumn(const DataColumn &binding,
                                   StringRef folder) {
  auto located = [&](Error error) {
    return makeError("{0}{1}", toString(std::move(error)),
                     at(binding.location));
  };
  Expected<std::string> path = findFile(folder, binding.pattern);
  if (!path)
    return located(path.takeError());
  Expected<TensorType> type = peekType(*path, binding.format, binding.key);
  if (!type)
    return located(type.takeError());
  if (type->element != binding.element)
    return makeError("{0}: holds {1} elements, column '{2}' expects {3}{4}",
                     *path, elementTypeName(type->element), binding.argument,
                     elementTypeName(binding.element), at(binding.location));
  if (type->shape.empty())
    return makeError("{0}: holds a single number, column '{1}' expects samples "
                     "along a first dimension{2}",
                     *path, binding.argument, at(binding.location));
  if (type->shape.front() == 0)
    return makeError("{0}: holds no samples{1}", *path, at(binding.location));
  uint64_t recordBytes = type->bytes() / type->shape.front();
  Column column{binding, std::move(*path), std::move(*type), {}, recordBytes};
  ArrayRef<int64_t> dims = binding.dimsInFiles;
  if (dims.empty())
    return column;
  if (std::string why = whyNotPermutation(dims, column.type.shape.size());
      !why.empty())
    return makeError("{0}: holds {1}, whose dimensions column '{2}' does not "
                     "permute: dims_in_files {3} {4}{5}",
                     column.path, column.type.str(), binding.argument,
                     dimsText(dims), why, at(binding.location));
  if (!isIdentity(dims))
    column.reorder = reorderSample(column.type, dims);
  return column;
}

Expected<Dataset> Dataset::find(const DataSource &source, StringRef folder) {
  Dataset data;
  data.name = source.name;
  for (const DataColumn &binding : source.columns) {
    Expected<Column> column = findColumn(binding, folder);
    if (!column)
      return column.takeError();
    data.all.push_back(std::move(*column));
  }
  if (data.all.empty())
    return makeError("data source '{0}' has no columns{1}", source.name,
                     at(source.location));
  const Column &first = data.all.front();
  data.count = first.type.shape.front();
  for (const Column &column : data.all)
    if (column.type.shape.front() != data.count)
      return makeError("columns differ in length: {0} holds {1} samples, {2} "
                       "holds {3}{4}",
                       first.path, data.count, column.path,
                       column.type.shape.front(), at(source.location));
  return data;
}

Error Dataset::read() {
  for (Column &column : all) {
    const DataColumn &binding = column.binding;
    if (column.array.owner)
      continue;
    Expected<Array> array = readArray(column.path, binding.format, binding.key);
    if (!array)
      return makeError("{0}{1}", toString(array.takeError()),
                       at(binding.location));
    if (array->type != column.type)
      return makeError("{0}: has changed while it was being read", column.path);
    column.array = std::move(*array);
  }
  return Error::success();
}

Expected<Dataset> Dataset::open(const DataSource &source, StringRef folder) {
  Expected<Dataset> data = find(source, folder);
  if (!data)
    return data.takeError();
  if (Error error = data->read())
    return error;
  return data;
}

Error checkRange(const Input &input, ElementType element, ArrayRef<char> bytes,
                 StringRef file, int64_t perSample) {
  std::optional<int64_t> found = firstOutside(input, {element, bytes});
  if (!found)
    return Error::success();
  return makeError(
      "{0}: sample {1} holds {2}, argument '{3}' takes {4}{5}", file,
      *found / perSample,
      loadInteger(element, bytes.data() + *found * byteWidth(element)),
      input.name, rangeText(input), at(input.location));
}

/// Fails unless the samples of a column are what an input takes. The error
/// also gives the shape in the file.
static Error checkSample(const Column &column, const Input &input) {
  TensorType sample = column.sample(), expected = input.type;
  if (!expected.shape.empty())
    expected.shape.erase(expected.shape.begin());
  if (!input.type.shape.empty() && sample == expected)
    return Error::success();
  std::string permuted;
  if (column.reorder)
    permuted = formatv(", permuted from the file's {0} by dims_in_files {1}",
                       column.type.str(), dimsText(column.binding.dimsInFiles));
  return makeError("{0}: a sample is {1}{2}, argument '{3}' takes {4}{5}",
                   column.path, sample.str(), permuted, input.name,
                   expected.str(), at(input.location));
}

Expected<ColumnBinding> Dataset::bind(const Entry &entry) const {
  ColumnBinding binding;
  for (const Input &input : entry.inputs) {
    auto found = llvm::find_if(all, [&](const Column &column) {
      return column.binding.argument == input.name;
    });
    if (found == all.end()) {
      std::vector<std::string> names;
      for (const Column &column : all)
        names.push_back(column.binding.argument);
      return makeError(
          "data source '{0}' has no column for argument '{1}'{2}{3}", name,
          input.name, suggest(input.name, names), at(input.location));
    }
    TensorType sample = found->sample();
    if (Error error = checkSample(*found, input))
      return std::move(error);
    Error error =
        checkRange(input, sample.element, found->array.bytes, found->path,
                   std::max<int64_t>(sample.elements(), 1));
    // That the file has changed explains what it holds.
    if (Error changed = found->array.check())
      return consumeError(std::move(error)), std::move(changed);
    if (error)
      return std::move(error);
    binding.push_back({static_cast<unsigned>(found - all.begin()), input});
  }
  return binding;
}

void Dataset::gather(unsigned column, ArrayRef<int64_t> rows, char *to) const {
  const Column &from = all[column];
  for (int64_t row : rows) {
    const char *sample = from.array.bytes.data() + row * from.recordBytes;
    if (from.reorder)
      (*from.reorder)(sample, to);
    else
      std::copy_n(sample, from.recordBytes, to);
    to += from.recordBytes;
  }
}

/// The values were in the range of the input when the whole file was checked.
/// They are checked again since the kernels that use them as indices do not,
/// and since a change through another process's mapping may not show in the
/// time of the file's last change.
Error Dataset::check(unsigned column, const Input &input,
                     ArrayRef<int64_t> rows, ArrayRef<char> bytes) const {
  const Column &from = all[column];
  if (Error error = from.array.check())
    return error;
  if (!from.array.file)
    return Error::success();
  ElementType element = from.type.element;
  std::optional<int64_t> found = firstOutside(input, {element, bytes});
  if (found) {
    int64_t perSample = bytes.size() / byteWidth(element) / rows.size();
    return make_error<FileChanged>(formatv(
        "{0}: has changed since it was opened: sample {1} holds {2}, argument "
        "'{3}' takes {4}{5}",
        from.path, rows[*found / perSample],
        loadInteger(element, bytes.data() + *found * byteWidth(element)),
        input.name, rangeText(input), at(input.location)));
  }
  Error error = checkBooleans({element, {}}, bytes, from.path);
  if (!error)
    return error;
  return make_error<FileChanged>(toString(std::move(error)) +
                                 "; it has changed since it was opened");
}

Error Dataset::check() const {
  for (const Column &column : all)
    if (Error error = column.array.check())
      return error;
  return Error::success();
}

std::vector<std::string> Dataset::replacedFiles() const {
  std::vector<std::string> paths;
  for (const Column &column : all)
    if (column.array.file && column.array.file->isReplaced() &&
        !is_contained(paths, column.path))
      paths.push_back(column.path);
  return paths;
}

} // namespace mp
