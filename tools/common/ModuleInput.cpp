//===- ModuleInput.cpp - the module that upstream's mains read ------------===//
#include "tools/common/ModuleInput.h"
#include "program/Limits.h"
#include "program/ModuleText.h"
#include "runtime/data/Array.h"
#include "support/Error.h"
#include "tools/common/BytecodeText.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

/// Lets standard input be a text, from its beginning.
static Error becomeInput(StringRef text) {
  int file = memfd_create("module", MFD_CLOEXEC);
  if (file < 0)
    return mp::makeSystemError("make", "a copy of the module", errno);
  {
    raw_fd_ostream os(file, /*shouldClose=*/false);
    os << text;
  }
  bool isThere = lseek(file, 0, SEEK_SET) == 0 && dup2(file, STDIN_FILENO) >= 0;
  int code = errno;
  close(file);
  if (!isThere)
    return mp::makeSystemError("read", "a copy of the module", code);
  return Error::success();
}

/// Reads standard input to its end, but little more than any module has.
static Expected<std::unique_ptr<MemoryBuffer>> readInput() {
  if (isatty(STDIN_FILENO))
    errs() << "reading a module from the terminal, up to ctrl-d\n";
  SmallString<0> text;
  while (text.size() <= mp::kMostModuleBytes) {
    size_t before = text.size(), part = size_t(64) << 10;
    text.resize_for_overwrite(before + part);
    auto got = sys::fs::readNativeFile(
        STDIN_FILENO, MutableArrayRef(text.data() + before, part));
    if (!got)
      return mp::makeError("<stdin>: {0}", toString(got.takeError()));
    text.truncate(before + *got);
    if (*got == 0)
      break;
  }
  return MemoryBuffer::getMemBufferCopy(text, "<stdin>");
}

static Error check(mp::tool::ModuleInput &input) {
  using namespace mp;
  bool isInput = input.path == "-";
  std::string name = isInput ? "<stdin>" : input.path;
  auto buffer = isInput ? readInput() : readText(input.path);
  if (!buffer)
    return buffer.takeError();
  StringRef text = (*buffer)->getBuffer();
  std::string converted;
  bool isBinary = input.trusted && isBytecode(text);
  if (isBinary) {
    auto made = tool::textOfBytecode(text, name, *input.trusted,
                                     input.takesUnknownDialects);
    if (!made)
      return made.takeError();
    converted = std::move(*made);
    text = converted;
  }
  if (Error error = checkModuleText(text, name, input.splitMarker))
    return error;
  input.hasControls = showsControls(text);
  if (!isInput && !isBinary && sys::fs::is_regular_file(input.path))
    return Error::success();
  input.path = "-";
  return becomeInput(text);
}

bool mp::tool::acceptModule(ModuleInput &input) {
  Error error = check(input);
  if (!error)
    return true;
  std::string text = toString(std::move(error));
  bool isLocated = StringRef(text).contains(": error: ");
  errs() << (isLocated ? "" : "error: ") << withoutControls(text) << "\n";
  return false;
}

char **mp::tool::moduleWord(MutableArrayRef<char *> words) {
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef word = words[i];
    if (word == "-o" || word == "--o")
      ++i;
    else if (!word.starts_with("-") && sys::fs::exists(word))
      return &words[i];
  }
  return nullptr;
}
