//===- Dataset.cpp - the files that feed an entry point -------------------===//
#include "runtime/data/Dataset.h"
#include "runtime/InputCheck.h"
#include "runtime/data/ColumnFinder.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "support/Permutation.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp {

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

/// Finds a column and checks what its header says.
static Expected<Column>
findColumn(const DataColumn &binding,
           function_ref<Expected<Column>(const DataColumn &)> source) {
  auto located = [&](Error error) {
    return makeError("{0}{1}", toString(std::move(error)),
                     at(binding.location));
  };
  Expected<Column> found = source(binding);
  if (!found)
    return located(found.takeError());
  Column &column = *found;
  const TensorType &type = column.type;
  if (type.element != binding.element)
    return makeError("{0}: holds {1} elements, column '{2}' expects {3}{4}",
                     column.path, elementTypeName(type.element),
                     binding.argument, elementTypeName(binding.element),
                     at(binding.location));
  if (type.shape.empty())
    return makeError("{0}: holds a single number, column '{1}' expects samples "
                     "along a first dimension{2}",
                     column.path, binding.argument, at(binding.location));
  if (type.shape.front() == 0)
    return makeError("{0}: holds no samples{1}", column.path,
                     at(binding.location));
  column.recordBytes = type.bytes() / type.shape.front();
  column.strideBytes = column.recordBytes;
  if (const TokenWindow &window = binding.window; window.tokens) {
    column.firstByte = window.offset * byteWidth(type.element);
    column.strideBytes = window.stride * byteWidth(type.element);
  }
  ArrayRef<int64_t> dims = binding.dimsInFiles;
  if (dims.empty())
    return found;
  if (std::string why = whyNotPermutation(dims, column.type.shape.size());
      !why.empty())
    return makeError("{0}: holds {1}, whose dimensions column '{2}' does not "
                     "permute: dims_in_files {3} {4}{5}",
                     column.path, column.type.str(), binding.argument,
                     dimsText(dims), why, at(binding.location));
  if (!isIdentity(dims))
    column.reorder = reorderSample(column.type, dims);
  return found;
}

Expected<Dataset> Dataset::find(const DataSource &source, StringRef folder,
                                const PictureOptions &pictures) {
  Dataset data;
  data.name = source.name;
  data.location = source.location;
  ColumnFinder finder(folder, pictures);
  for (const DataColumn &binding : source.columns) {
    Expected<Column> column = findColumn(
        binding, [&](const DataColumn &column) { return finder.find(column); });
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
  for (const Column &column : data.all)
    if (int64_t streams = column.binding.window.streams;
        streams != data.streams())
      return makeError("columns differ in streams: {0} has {1}, {2} has {3}{4}",
                       first.path, data.streams(), column.path, streams,
                       at(source.location));
  return data;
}

/// Reads a column, unless it has been read.
static Error readOnce(Column &column) {
  if (column.array.owner || column.pictures)
    return Error::success();
  Expected<Array> array = readColumn(column);
  if (!array)
    return makeError("{0}{1}", toString(array.takeError()),
                     at(column.binding.location));
  if (array->type != column.type)
    return makeError("{0}: has changed while it was being read", column.path);
  column.array = std::move(*array);
  return Error::success();
}

Error Dataset::read() {
  for (Column &column : all)
    if (Error error = readOnce(column))
      return error;
  return Error::success();
}

Error Dataset::read(StringRef argument) {
  for (Column &column : all)
    if (column.binding.argument == argument)
      return readOnce(column);
  return Error::success();
}

const Column *Dataset::column(StringRef argument) const {
  auto found = llvm::find_if(all, [&](const Column &column) {
    return column.binding.argument == argument;
  });
  return found == all.end() ? nullptr : &*found;
}

std::string Dataset::str() const {
  return formatv("data source '{0}'{1}", name, at(location));
}

Expected<Dataset> Dataset::open(const DataSource &source, StringRef folder,
                                const PictureOptions &pictures) {
  Expected<Dataset> data = find(source, folder, pictures);
  if (!data)
    return data.takeError();
  if (Error error = data->read())
    return error;
  return data;
}

Error checkRange(const Input &input, ElementType element, ArrayRef<char> bytes,
                 StringRef file, int64_t perSample, StringRef unit,
                 int64_t first) {
  std::optional<int64_t> found = firstOutside(input, {element, bytes});
  if (!found)
    return Error::success();
  return makeError(
      "{0}: {1} {2} holds {3}, argument '{4}' takes {5}{6}", file, unit,
      first + *found / perSample,
      loadInteger(element, bytes.data() + *found * byteWidth(element)),
      input.name, rangeText(input), at(input.location));
}

/// Checks the values of these samples, or of the whole file if there are none.
/// Samples of tokens overlap.
static Error checkValues(const Column &column, const Input &input,
                         ArrayRef<int64_t> samples) {
  TensorType sample = column.sample();
  bool isTokens = column.binding.window.tokens;
  int64_t elements = std::max<int64_t>(sample.elements(), 1);
  if (samples.empty() || isTokens)
    return checkRange(input, sample.element, column.array.bytes, column.path,
                      isTokens ? 1 : elements, isTokens ? "token" : "sample");
  for (int64_t i : samples)
    if (Error error = checkRange(input, sample.element,
                                 {column.find(i), size_t(column.recordBytes)},
                                 column.path, elements, "sample", /*first=*/i))
      return error;
  return Error::success();
}

/// Whether an input that is as long as `length` takes the beginning of a
/// longer sample.
static bool takesBeginning(const TensorType &expected, const TensorType &sample,
                           int64_t length) {
  if (length == 0 || expected.shape.empty() || sample.shape.empty() ||
      expected.shape.front() != length || sample.shape.front() < length)
    return false;
  TensorType beginning = sample;
  beginning.shape.front() = length;
  return beginning == expected;
}

/// Fails unless the samples of a column are what an input takes. The error
/// also gives the shape in the file.
static Error checkSample(const Column &column, const Input &input,
                         int64_t length) {
  TensorType sample = column.sample(), expected = input.type;
  if (!expected.shape.empty())
    expected.shape.erase(expected.shape.begin());
  if (!input.type.shape.empty() &&
      (sample == expected || takesBeginning(expected, sample, length)))
    return Error::success();
  std::string permuted;
  if (column.reorder)
    permuted = formatv(", permuted from the file's {0} by dims_in_files {1}",
                       column.type.str(), dimsText(column.binding.dimsInFiles));
  return makeError("{0}: a sample is {1}{2}, argument '{3}' takes {4}{5}",
                   column.path, sample.str(), permuted, input.name,
                   expected.str(), at(input.location));
}

Expected<ColumnBinding> Dataset::match(const Entry &entry,
                                       int64_t length) const {
  ColumnBinding binding;
  for (const Input &input : entry.inputs) {
    const Column *found = column(input.name);
    if (!found) {
      std::vector<std::string> names;
      for (const Column &column : all)
        names.push_back(column.binding.argument);
      return makeError(
          "data source '{0}' has no column for argument '{1}'{2}{3}", name,
          input.name, suggest(input.name, names), at(input.location));
    }
    if (Error error = checkSample(*found, input, length))
      return std::move(error);
    binding.push_back({static_cast<unsigned>(found - all.data()), input});
  }
  return binding;
}

Expected<ColumnBinding> Dataset::bind(const Entry &entry, int64_t length,
                                      ArrayRef<int64_t> samples) const {
  Expected<ColumnBinding> binding = match(entry, length);
  if (!binding)
    return binding;
  for (const BoundColumn &bound : *binding) {
    const Column &found = all[bound.column];
    const Input &input = bound.input;
    if (found.pictures && input.range)
      return makeError(
          "{0}: pictures hold any byte, argument '{1}' takes {2}{3}",
          found.path, input.name, rangeText(input), at(input.location));
    Error error = checkValues(found, input, samples);
    // That the file has changed explains what it holds.
    if (Error changed = found.array.check())
      return consumeError(std::move(error)), std::move(changed);
    if (error)
      return std::move(error);
  }
  return binding;
}

std::vector<std::string> Dataset::classes() const {
  for (const Column &column : all)
    if (column.folder)
      return column.folder->classes;
  return {};
}

Error checkClasses(ArrayRef<std::string> known, ArrayRef<std::string> found,
                   StringRef folder) {
  if (known.empty() || found.empty() || known == found)
    return Error::success();
  size_t first = 0;
  while (first < std::min(known.size(), found.size()) &&
         known[first] == found[first])
    ++first;
  auto nameAt = [&](ArrayRef<std::string> names) -> std::string {
    return first < names.size() ? "'" + names[first] + "'" : "none";
  };
  return makeError("{0}: class {1} is {2} here and {3} in training: the same "
                   "folders have to be there, so that their numbers are the "
                   "same",
                   folder, first, nameAt(found), nameAt(known));
}

const char *Column::find(int64_t sample) const {
  // The streams are one after the other.
  int64_t streams = binding.window.streams,
          length = type.shape.front() / streams;
  int64_t place = sample % streams * length + sample / streams;
  return array.bytes.data() + firstByte + place * strideBytes;
}

/// Copies a sample in the order of its argument.
static void copySample(const Column &column, const char *sample, char *to) {
  if (column.reorder)
    (*column.reorder)(sample, to);
  else
    std::copy_n(sample, column.recordBytes, to);
}

Error Dataset::gather(unsigned column, ArrayRef<int64_t> rows, char *to) const {
  const Column &from = all[column];
  if (from.pictures)
    return from.pictures->read(rows, [&](size_t place, const uint8_t *bytes) {
      copySample(from, reinterpret_cast<const char *>(bytes),
                 to + place * from.recordBytes);
    });
  for (int64_t row : rows) {
    copySample(from, from.find(row), to);
    to += from.recordBytes;
  }
  return Error::success();
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
