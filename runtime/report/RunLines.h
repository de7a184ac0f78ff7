//===- RunLines.h - files of a run with one object a line -------*- C++ -*-===//
#ifndef MP_RUNTIME_REPORT_RUNLINES_H
#define MP_RUNTIME_REPORT_RUNLINES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mp {

/// Calls `take` with the object of each line of a file in a run folder; a
/// missing file has none. A killed run may leave a last line that has no end
/// and is not JSON; `notes` then says so. Errors name the line.
llvm::Error
readRunLines(llvm::StringRef folder, llvm::StringRef name,
             std::vector<std::string> &notes,
             llvm::function_ref<llvm::Error(llvm::json::Object)> take);

/// Returns the text of a file, or null if there is no file. A device or a pipe
/// is an error.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readIfThere(llvm::StringRef path);

/// Returns the path of a file in a run folder.
std::string pathInRun(llvm::StringRef folder, llvm::StringRef name);

} // namespace mp

#endif // MP_RUNTIME_REPORT_RUNLINES_H
