//===- PassHelp.h - help that begins with passes --------------------------===//
#ifndef MP_TOOLS_COMMON_PASSHELP_H
#define MP_TOOLS_COMMON_PASSHELP_H

#include "llvm/ADT/ArrayRef.h"

namespace mlir {
class DialectRegistry;
}

namespace mp::tool {

/// If the words of mp-opt ask for help, prints Mantissa's passes and pipelines
/// and then all others, and hides these and the options of LLVM's libraries
/// from the help that upstream's main prints next. --help-hidden shows all.
void helpWithPasses(llvm::ArrayRef<char *> words,
                    mlir::DialectRegistry &registry);

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_PASSHELP_H
