//===- Safetensors.cpp - named tensors in a file --------------------------===//
//
// The file is not trusted: its header is read by SafetensorsHeader, sizes are
// checked before anything is allocated, and the tensors must tile the data.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/Safetensors.h"
#include "runtime/data/SafetensorsHeader.h"
#include "runtime/data/TensorDigests.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <limits>
#include <optional>

using namespace llvm;

namespace mp {
namespace {

constexpr uint64_t kMaxHeaderBytes =
    100'000'000; // the limit of the reference reader

class Reader {
public:
  Reader(std::shared_ptr<const MappedFile> owner, StringRef path)
      : owner(std::move(owner)) {
    file.path = path;
    file.source = this->owner;
  }

  Expected<Safetensors> run() {
    StringRef text;
    if (Error error = splitHeader(text))
      return error;
    SafetensorsHeader header(owner, text, data);
    if (std::string problem = header.read(); !problem.empty())
      return fail(problem);
    file.metadata = std::move(header.metadata);
    if (Error error = checkDigests(text, header))
      return error;
    if (std::string problem = header.finish(); !problem.empty())
      return fail(problem);
    file.tensors = std::move(header.table);
    return std::move(file);
  }

private:
  Error fail(StringRef problem) {
    return makeError("{0}: damaged safetensors file: {1}", file.path, problem);
  }

  Error splitHeader(StringRef &header) {
    StringRef content = owner->getBuffer();
    if (content.size() < 8)
      return makeError(
          "{0}: truncated: {1} bytes, expected a safetensors header", file.path,
          content.size());
    uint64_t length = support::endian::read64le(content.data());
    StringRef rest = content.drop_front(8);
    header = rest.take_front(length);
    if (length > kMaxHeaderBytes || !header.ltrim(" \t\r\n").starts_with("{"))
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
    return Error::success();
  }

  Error checkDigests(StringRef text, SafetensorsHeader &header) {
    auto find = [&](StringRef key) -> std::optional<StringRef> {
      auto found = file.metadata.find(key.str());
      return found == file.metadata.end()
                 ? std::nullopt
                 : std::optional<StringRef>(found->second);
    };
    auto ofHeader = find(kHeaderDigest), ofParts = find(kPartDigests);
    auto ofTensors = find(kTensorDigests);
    if (!ofHeader && !ofParts && !ofTensors)
      return Error::success();
    if (!ofHeader || (!ofParts && !ofTensors) ||
        headerDigest(text, *ofHeader) != *ofHeader)
      return fail("the header is not the one that was written");
    file.hasDigests = true;
    return ofParts ? checkParts(*ofParts, kDigestedBytes, header)
                   : checkParts(*ofTensors, std::numeric_limits<size_t>::max(),
                                header);
  }

  Error checkParts(StringRef digests, size_t partBytes,
                   SafetensorsHeader &header) {
    DigestCheck check(digests, partBytes);
    header.inOrderOfData([&](StringRef, ArrayRef<char> bytes) {
      check.add(bytes);
      return true;
    });
    std::optional<size_t> damaged = check.firstDamaged();
    if (!damaged)
      return Error::success();
    std::string name;
    size_t parts = 0;
    header.inOrderOfData([&](StringRef tensor, ArrayRef<char> bytes) {
      name = tensor;
      return (parts += countParts(bytes.size(), partBytes)) <= *damaged;
    });
    return fail("tensor '" + printableName(name) +
                "' is not the one that was written");
  }

  std::shared_ptr<const MappedFile> owner;
  StringRef data;
  Safetensors file;
};

StringRef dtypeName(ElementType type) {
  return llvm::find_if(safetensorsDtypes(),
                       [&](auto &dtype) { return dtype.element == type; })
      ->name;
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

Error Safetensors::checkUsable(StringRef name) const {
  std::string problem = tensors.whyUnusable(name);
  if (problem.empty())
    return Error::success();
  return makeError("{0}: {1}", path, problem);
}

Expected<Array> Safetensors::only(StringRef key) const {
  if (key.empty() && names().size() != 1)
    return makeError("{0}: holds {1} tensors, name one of them as the key: {2}",
                     path, names().size(), quoteList(names()));
  auto found = key.empty() ? tensors.begin() : tensors.find(key);
  if (found != tensors.end())
    return found->second;
  if (Error error = checkUsable(key))
    return error;
  return makeError("{0}: no tensor '{1}'{2}", path, key, suggest(key, names()));
}

Expected<Safetensors> readSafetensors(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  return unlessChanged(**buffer, Reader(*buffer, path).run());
}

/// Calls `add` with the bytes that the tensor shows.
static Error addViewed(const NamedTensor &tensor,
                       function_ref<Error(ArrayRef<char>)> add) {
  std::optional<Error> added;
  if (Error error =
          tensor.view([&](ArrayRef<char> bytes) { added = add(bytes); }))
    return error;
  return std::move(*added);
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
  metadata.erase(kPartDigests.str());
  if (digests == Digests::Written) {
    size_t parts = 0;
    for (const NamedTensor &tensor : tensors)
      parts += countParts(tensor.type.bytes(), kDigestedBytes);
    metadata[kHeaderDigest.str()].assign(kDigestDigits, '0');
    metadata[kPartDigests.str()].assign(kDigestDigits * parts, '0');
  }
  std::string header = makeHeader(tensors, metadata);
  char length[8];
  support::endian::write64le(length, header.size());
  return writeAtomically(path, [&](OutputFile &file) -> Error {
    if (Error error = file.write(std::string(length, 8) + header))
      return error;
    std::string found;
    auto add = [&](ArrayRef<char> bytes) {
      if (digests == Digests::Written)
        found += digestsOf(bytes);
      return file.write({bytes.data(), bytes.size()});
    };
    for (const NamedTensor &tensor : tensors)
      if (Error error =
              tensor.view ? addViewed(tensor, add) : add(tensor.bytes))
        return error;
    if (digests == Digests::None)
      return Error::success();
    metadata[kPartDigests.str()] = found;
    std::string &ofHeader = metadata[kHeaderDigest.str()];
    ofHeader = headerDigest(makeHeader(tensors, metadata), ofHeader);
    return file.overwrite(sizeof length, makeHeader(tensors, metadata));
  });
}

} // namespace mp
