//===- npy.cpp - fuzz target: NumPy's array files -------------------------===//
#include "runtime/data/Npy.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;

/// `bytes`, or a dict and data without magic and length if they begin as a dict
/// does.
static std::string asNpy(llvm::StringRef bytes) {
  if (!bytes.starts_with("{"))
    return bytes.str();
  char length[4];
  llvm::support::endian::write32le(length, bytes.rfind('}') + 1);
  return std::string("\x93NUMPY\x02\x00", 8) + std::string(length, 4) +
         bytes.str();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MemoryFile memory;
  auto array = readNpy(memory.write(asNpy(textOf(data, size))));
  if (!succeeds(array))
    return 0;
  require(array->type.bytes() == array->bytes.size(), "data of another size");
  touch(array->bytes);
  return 0;
}
