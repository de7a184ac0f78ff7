//===- DocumentFilter.h - what an editor sends to the language server -----===//
//
// Upstream's server parses each document as it arrives, and one that nests too
// deep would end it, for all documents of the editor. Messages therefore pass
// through here: in place of such a document the server gets an empty one, and
// the editor gets the error at its place.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TOOLS_LSPSERVER_DOCUMENTFILTER_H
#define MP_TOOLS_LSPSERVER_DOCUMENTFILTER_H

#include "llvm/ADT/ArrayRef.h"

namespace mp::tool {

/// Makes standard input one whose documents the server can parse. The words are
/// those of the command line, which say how messages are separated.
void filterDocuments(llvm::ArrayRef<char *> words);

} // namespace mp::tool

#endif // MP_TOOLS_LSPSERVER_DOCUMENTFILTER_H
