//===- HtmlPage.cpp - pages in one file -----------------------------------===//
#include "support/HtmlPage.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace mp {

static std::string sourceHash(StringRef text) {
  SHA256 hash;
  hash.update(text);
  return " 'sha256-" + encodeBase64(hash.final()) + "'";
}

static std::string contentPolicy(ArrayRef<StringLiteral> styles,
                                 StringLiteral script) {
  std::string policy = "default-src 'none'; img-src data:; style-src";
  for (StringLiteral style : styles)
    policy += sourceHash(style);
  if (!script.empty())
    policy += "; script-src" + sourceHash(script);
  return policy + "; base-uri 'none'; form-action 'none'";
}

void writePageHead(Html &html, StringRef title, ArrayRef<StringLiteral> styles,
                   StringLiteral script) {
  html.literal("<!DOCTYPE html>\n");
  html.open("html", {{"lang", "en"}}).open("head");
  html.empty("meta", {{"charset", "utf-8"}});
  html.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                      {"content", contentPolicy(styles, script)}});
  html.empty("meta", {{"name", "viewport"},
                      {"content", "width=device-width, initial-scale=1"}});
  html.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html.element("title", title);
  for (StringLiteral style : styles)
    html.open("style").literal(style).close();
  html.close();
}

} // namespace mp
