//===- PluginFile.cpp - what a plugin was built for -----------------------===//
#include "codegen/PluginFile.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

using Library = object::ELF64LEObjectFile;

/// The names of the libraries that a library links.
static Expected<SmallVector<StringRef>> neededBy(const Library &library) {
  auto entries = library.getELFFile().dynamicEntries();
  if (!entries)
    return entries.takeError();
  const char *end = library.getData().end();
  const char *names = end;
  for (const auto &entry : *entries)
    if (entry.getTag() == ELF::DT_STRTAB) {
      auto address = library.getELFFile().toMappedAddr(entry.getPtr());
      if (!address)
        return address.takeError();
      names = reinterpret_cast<const char *>(*address);
    }
  SmallVector<StringRef> needed;
  for (const auto &entry : *entries)
    if (entry.getTag() == ELF::DT_NEEDED) {
      if (entry.getVal() >= static_cast<uint64_t>(end - names))
        return createStringError("is not a whole shared library");
      const char *name = names + entry.getVal();
      needed.push_back(StringRef(name, strnlen(name, end - name)));
    }
  return needed;
}

/// The library of this name with this process's version, or "" for a library
/// that may have any version.
static StringRef ours(StringRef name) {
#define MP_STRING(X) #X
#define MP_LLVM(MAJOR, MINOR) "." MP_STRING(MAJOR) "." MP_STRING(MINOR)
#define MP_LLVM_SOVERSION MP_LLVM(LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR)
  // Older versions of LLVM were named libLLVM-15.so.1.
  StringRef stem = name.take_until([](char c) { return c == '.' || c == '-'; });
  return StringSwitch<StringRef>(stem)
      .Case("libLLVM", "libLLVM.so" MP_LLVM_SOVERSION)
      .Case("libMLIR", "libMLIR.so" MP_LLVM_SOVERSION)
      .Case("libMantissa", "libMantissa.so." MP_SOVERSION)
      .Case("libMantissaRuntime", "libMantissaRuntime.so." MP_SOVERSION)
      .Default("");
}

/// Whether a library defines what only one library of a process may define.
static bool containsMlir(const Library &library) {
  return any_of(library.getDynamicSymbolIterators(), [](const auto &symbol) {
    auto name = expectedToOptional(symbol.getName());
    auto flags = expectedToOptional(symbol.getFlags());
    return name == "_ZN4mlir11MLIRContextD1Ev" && flags &&
           !(*flags & object::BasicSymbolRef::SF_Undefined);
  });
}

Error mp::checkPluginFile(StringRef path) {
  if (!sys::fs::exists(path))
    return createStringError("no such file");
  // A device or a pipe would be read without an end.
  if (!sys::fs::is_regular_file(path))
    return createStringError("is not a file");
  auto file = object::ObjectFile::createObjectFile(path);
  const Library *library = nullptr;
  if (file)
    library = dyn_cast<Library>(file->getBinary());
  else
    consumeError(file.takeError());
  if (!library)
    return createStringError("is not a shared library for x86-64");
  auto needed = neededBy(*library);
  if (!needed)
    return needed.takeError();
  for (StringRef name : *needed)
    if (StringRef own = ours(name); !own.empty() && name != own)
      return createStringError("was built with " + name +
                               ", and this is Mantissa " MP_VERSION " with " +
                               own + ": build the plugin with these");
  if (containsMlir(*library))
    return createStringError("contains a copy of MLIR: link libMLIR.so, and "
                             "none of its static libraries");
  return Error::success();
}
