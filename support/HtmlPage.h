//===- HtmlPage.h - pages in one file ---------------------------*- C++ -*-===//
#ifndef MP_SUPPORT_HTMLPAGE_H
#define MP_SUPPORT_HTMLPAGE_H

#include "support/Html.h"
#include "llvm/ADT/ArrayRef.h"

namespace mp {

/// The style sheet that all pages share: text, tables, and colours with a
/// meaning, such as that of each precision, in light and in dark.
extern const llvm::StringLiteral kPageStyle;

/// Writes a page's start, and all of its head. The browser will load nothing,
/// whatever the page contains, and use only these style sheets and this script,
/// by their hashes. The script is to be written at the end of the body. Images
/// that the page itself contains are shown.
void writePageHead(Html &html, llvm::StringRef title,
                   llvm::ArrayRef<llvm::StringLiteral> styles,
                   llvm::StringLiteral script = "");

} // namespace mp

#endif // MP_SUPPORT_HTMLPAGE_H
