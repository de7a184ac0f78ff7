//===- ViewPage.h - the parts of a page with pictures ---------------------===//
#ifndef MP_PASSES_INSPECT_VIEW_VIEWPAGE_H
#define MP_PASSES_INSPECT_VIEW_VIEWPAGE_H

#include "passes/inspect/view/View.h"
#include "support/Html.h"

namespace mp::view {

/// Draws each function of a picture as SVG. The ids of its nodes begin with
/// `prefix`.
void writeFunctions(Html &html, const Picture &picture,
                    const std::string &prefix);

/// The style sheet of the pictures, and the script that finds the same node in
/// another picture. Without it, the page can be read all the same.
extern const llvm::StringLiteral kViewStyle, kViewScript;

} // namespace mp::view

#endif // MP_PASSES_INSPECT_VIEW_VIEWPAGE_H
