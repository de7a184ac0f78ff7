//===- Safetensors.cpp - named tensors in a file --------------------------===//
//
// The file is not trusted: sizes are checked before anything is allocated,
// nesting is checked before llvm::json (which recurses) reads the header, and
// the tensors must tile the data, which also rejects two entries of one name.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/Safetensors.h"
#include "support/Error.h"
#include "support/Json.h"
#include "support/OutputFile.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>

using namespace llvm;

namespace mp {
namespace {

constexpr uint64_t kMaxHeaderBytes =
    100'000'000; // the limit of the reference reader

constexpr std::pair<StringLiteral, ElementType> kDtypes[] = {
    {"F64", ElementType::F64},        {"F32", ElementType::F32},
    {"F16", ElementType::F16},        {"BF16", ElementType::BF16},
    {"I64", ElementType::I64},        {"I32", ElementType::I32},
    {"I8", ElementType::I8},          {"U8", ElementType::U8},
    {"BOOL", ElementType::I1},        {"F8_E4M3", ElementType::F8E4M3FN},
    {"F8_E5M2", ElementType::F8E5M2},
};

/// Metadata: the hash of the header with zeros in the place of this hash, and
/// those of the tensors in the order of their data.
constexpr StringLiteral kHeaderDigest = "header_digest";
constexpr StringLiteral kTensorDigests = "tensor_digests";
constexpr size_t kDigestDigits = 16;

std::string digestOf(ArrayRef<char> bytes) {
  uint64_t hash = xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  return formatv("{0:x-16}", hash);
}

/// The header's hash, in which the digits of `value` count as zeros. Empty if
/// the header does not have this value.
std::string headerDigest(StringRef header, StringRef value) {
  std::string entry = formatv("\"{0}\":\"{1}\"", kHeaderDigest, value);
  size_t place = header.find(entry);
  if (place == StringRef::npos || value.size() != kDigestDigits)
    return "";
  std::string cleared = header.str();
  cleared.replace(place + entry.size() - 1 - kDigestDigits, kDigestDigits,
                  kDigestDigits, '0');
  return digestOf(cleared);
}

/// A tensor's place in the data.
struct Extent {
  uint64_t begin, end;
  std::string name;
};

class Reader {
public:
  Reader(std::shared_ptr<const MappedFile> owner, StringRef path)
      : owner(std::move(owner)) {
    file.path = path;
    file.source = this->owner;
  }

  Expected<Safetensors> run() {
    Expected<StringRef> header = splitHeader();
    if (!header)
      return header.takeError();
    if (nestedTooDeep(*header))
      return fail("the header nests deeper than {0}", kMaxJsonNesting);
    Expected<json::Value> value = json::parse(*header);
    if (!value) {
      consumeError(value.takeError());
      return fail("the header is not JSON");
    }
    const json::Object *object = value->getAsObject();
    if (!object)
      return fail("the header is not a JSON object");
    for (auto &[key, entry] : *object)
      if (Error error = key.str() == "__metadata__"
                            ? readMetadata(entry)
                            : readTensor(key.str(), entry))
        return error;
    if (Error error = checkCover())
      return error;
    if (Error error = checkDigests(*header))
      return error;
    return std::move(file);
  }

private:
  template <typename... Ts> Error fail(const char *format, Ts &&...values) {
    return makeError("{0}: damaged safetensors file: {1}", file.path,
                     formatv(format, std::forward<Ts>(values)...).str());
  }

  Expected<StringRef> splitHeader() {
    StringRef content = owner->getBuffer();
    if (content.size() < 8)
      return makeError(
          "{0}: truncated: {1} bytes, expected a safetensors header", file.path,
          content.size());
    uint64_t length = support::endian::read64le(content.data());
    StringRef rest = content.drop_front(8);
    if (length > kMaxHeaderBytes || !rest.starts_with("{"))
      return makeError(
          "{0}: not a safetensors file: expected a header of at most "
          "{1} bytes that starts with '{{'",
          file.path, kMaxHeaderBytes);
    if (length > rest.size())
      return makeError(
          "{0}: truncated: the safetensors header has {1} bytes, the "
          "file {2} more",
          file.path, length, rest.size());
    data = rest.drop_front(length);
    return rest.take_front(length);
  }

  Error readMetadata(const json::Value &value) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return fail("__metadata__ is not an object");
    for (auto &[key, entry] : *object) {
      auto text = entry.getAsString();
      if (!text)
        return fail("__metadata__ entry '{0}' is not a string", key.str());
      file.metadata[key.str()] = text->str();
    }
    return Error::success();
  }

  Expected<TensorType> readType(StringRef name, const json::Object &object) {
    auto dtype = object.getString("dtype");
    const json::Array *shape = object.getArray("shape");
    if (!dtype || !shape)
      return fail("tensor '{0}' has no dtype or no shape", name);
    auto *known = llvm::find_if(
        kDtypes, [&](auto &entry) { return entry.first == *dtype; });
    if (known == std::end(kDtypes))
      return makeError(
          "{0}: tensor '{1}' has dtype {2}, expected F64, F32, F16, "
          "BF16, F8_E4M3, F8_E5M2, I64, I32, I8, U8 or BOOL",
          file.path, name, *dtype);
    TensorType type{known->second, {}};
    for (const json::Value &size : *shape) {
      auto number = size.getAsUINT64();
      if (!number || *number > INT64_MAX)
        return fail("tensor '{0}' has a size that is not a natural number",
                    name);
      type.shape.push_back(*number);
    }
    return type;
  }

  Error readTensor(StringRef name, const json::Value &value) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return fail("entry '{0}' is not an object", name);
    Expected<TensorType> type = readType(name, *object);
    if (!type)
      return type.takeError();
    const json::Array *offsets = object->getArray("data_offsets");
    if (!offsets || offsets->size() != 2 || !(*offsets)[0].getAsUINT64() ||
        !(*offsets)[1].getAsUINT64())
      return fail("tensor '{0}' has no data_offsets of two numbers", name);
    uint64_t begin = *(*offsets)[0].getAsUINT64();
    uint64_t end = *(*offsets)[1].getAsUINT64();
    if (begin > end || end > data.size())
      return makeError(
          "{0}: truncated or damaged: tensor '{1}' lies at bytes {2} "
          "to {3}, the file has {4} bytes of data",
          file.path, name, begin, end, data.size());
    std::optional<uint64_t> bytes = checkedBytes(*type);
    if (!bytes || *bytes != end - begin)
      return fail("tensor '{0}' of {1} has {2} bytes of data", name,
                  type->str(), end - begin);
    ArrayRef<char> content(data.data() + begin, end - begin);
    if (Error error = checkBooleans(
            *type, content, (file.path + ": tensor '" + name + "'").str()))
      return error;
    extents.push_back({begin, end, name.str()});
    file.tensors[name.str()] =
        Array{std::move(*type), content, owner, owner.get()};
    return Error::success();
  }

  Error checkCover() {
    llvm::sort(extents, [](const Extent &a, const Extent &b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    uint64_t at = 0;
    for (const Extent &extent : extents) {
      if (extent.begin != at)
        return fail("tensor '{0}' starts at byte {1} of the data, expected {2}",
                    extent.name, extent.begin, at);
      at = extent.end;
    }
    if (at != data.size())
      return makeError("{0}: {1} bytes left over after the last tensor",
                       file.path, data.size() - at);
    return Error::success();
  }

  Error checkDigests(StringRef header) {
    auto ofHeader = file.metadata.find(kHeaderDigest.str());
    auto ofTensors = file.metadata.find(kTensorDigests.str());
    if (ofHeader == file.metadata.end() && ofTensors == file.metadata.end())
      return Error::success();
    if (ofHeader == file.metadata.end() || ofTensors == file.metadata.end() ||
        headerDigest(header, ofHeader->second) != ofHeader->second)
      return fail("the header is not the one that was written");
    StringRef digests = ofTensors->second;
    for (const Extent &extent : extents) {
      ArrayRef<char> bytes(data.data() + extent.begin,
                           extent.end - extent.begin);
      if (digestOf(bytes) != digests.take_front(kDigestDigits))
        return fail("tensor '{0}' is not the one that was written",
                    extent.name);
      digests = digests.drop_front(kDigestDigits);
    }
    file.hasDigests = true;
    return Error::success();
  }

  std::shared_ptr<const MappedFile> owner;
  StringRef data;
  Safetensors file;
  std::vector<Extent> extents;
};

StringRef dtypeName(ElementType type) {
  return llvm::find_if(kDtypes,
                       [&](auto &entry) { return entry.second == type; })
      ->first;
}

std::string makeHeader(ArrayRef<NamedTensor> tensors,
                       const std::map<std::string, std::string> &metadata) {
  std::string header;
  raw_string_ostream os(header);
  json::OStream json(os);
  uint64_t offset = 0;
  json.object([&] {
    if (!metadata.empty())
      json.attributeObject("__metadata__", [&] {
        for (auto &[key, value] : metadata)
          json.attribute(key, value);
      });
    for (const NamedTensor &tensor : tensors)
      json.attributeObject(tensor.name, [&] {
        json.attribute("dtype", dtypeName(tensor.type.element));
        json.attribute("shape", json::Array(tensor.type.shape));
        uint64_t end = offset + tensor.type.bytes();
        json.attribute("data_offsets", json::Array{offset, end});
        offset = end;
      });
  });
  // Spaces at the end align the data.
  header.append((8 - header.size() % 8) % 8, ' ');
  return header;
}

} // namespace

std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> all;
  for (auto &[name, tensor] : tensors)
    all.push_back(name);
  return all;
}

Expected<Array> Safetensors::only(StringRef key) const {
  if (key.empty() && tensors.size() == 1)
    return tensors.begin()->second;
  auto found = tensors.find(key.str());
  if (found != tensors.end())
    return found->second;
  if (key.empty())
    return makeError("{0}: holds {1} tensors, name one of them as the key: {2}",
                     path, tensors.size(), quoteList(names()));
  return makeError("{0}: no tensor '{1}'{2}", path, key, suggest(key, names()));
}

Expected<Safetensors> readSafetensors(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  return unlessChanged(**buffer, Reader(*buffer, path).run());
}

Error writeSafetensors(StringRef path, std::vector<NamedTensor> tensors,
                       std::map<std::string, std::string> metadata,
                       Digests digests) {
  llvm::sort(tensors, [](const NamedTensor &a, const NamedTensor &b) {
    unsigned aWidth = byteWidth(a.type.element);
    unsigned bWidth = byteWidth(b.type.element);
    return aWidth != bWidth ? aWidth > bWidth : a.name < b.name;
  });
  // The digests are known when the tensors are written, after the header.
  metadata.erase(kHeaderDigest.str());
  metadata.erase(kTensorDigests.str());
  if (digests == Digests::Written) {
    metadata[kHeaderDigest.str()].assign(kDigestDigits, '0');
    metadata[kTensorDigests.str()].assign(kDigestDigits * tensors.size(), '0');
  }
  std::string header = makeHeader(tensors, metadata);
  char length[8];
  support::endian::write64le(length, header.size());
  return writeAtomically(path, [&](OutputFile &file) -> Error {
    if (Error error = file.write(std::string(length, 8) + header))
      return error;
    std::vector<char> fetched;
    std::string found;
    for (const NamedTensor &tensor : tensors) {
      ArrayRef<char> bytes = tensor.bytes;
      if (tensor.read) {
        fetched.resize(tensor.type.bytes());
        if (Error error = tensor.read(fetched))
          return error;
        bytes = fetched;
      }
      if (digests == Digests::Written)
        found += digestOf(bytes);
      if (Error error = file.write({bytes.data(), bytes.size()}))
        return error;
    }
    if (digests == Digests::None)
      return Error::success();
    metadata[kTensorDigests.str()] = found;
    std::string &ofHeader = metadata[kHeaderDigest.str()];
    ofHeader = headerDigest(makeHeader(tensors, metadata), ofHeader);
    return file.overwrite(sizeof length, makeHeader(tensors, metadata));
  });
}

} // namespace mp
