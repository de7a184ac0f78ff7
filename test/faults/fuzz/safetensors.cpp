//===- safetensors.cpp - fuzz target: tensor files ------------------------===//
#include "runtime/data/Safetensors.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MemoryFile memory;
  auto file = readSafetensors(memory.write(asSafetensors(textOf(data, size))));
  if (!succeeds(file))
    return 0;
  uint64_t bytes = 0;
  std::string last;
  size_t count = 0;
  for (auto &[name, array] : file->tensors) {
    require(!count++ || last < name, "names out of order");
    require(array.type.bytes() == array.bytes.size(), "data of another size");
    require(file->tensors.find(name)->first == name, "a tensor is not found");
    bytes += array.bytes.size();
    touch(array.bytes);
    last = name;
  }
  require(count == file->tensors.size(), "another count of tensors");
  require(bytes <= size, "more data than the file has");
  (void)file->tensors.whyUnusable();
  return 0;
}
