//===- DocumentFilter.cpp - what an editor sends to the language server ---===//
#include "tools/lsp-server/DocumentFilter.h"
#include "program/ModuleText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <unistd.h>

using namespace llvm;
using namespace mp;

/// What ends a message in upstream's tests, and a module of a file.
static constexpr StringLiteral kMarker = "// -----";

namespace {
class DocumentFilter {
public:
  explicit DocumentFilter(bool isDelimited) : isDelimited(isDelimited) {}

  /// Gives the server the next bytes. It asks for more once it has answered the
  /// message before, so that an answer of this filter comes after its own.
  ssize_t give(char *to, size_t most) {
    if (given == ready.size()) {
      for (json::Value &answer : std::exchange(answers, {}))
        send(std::move(answer));
      std::string message;
      if (!receive(message))
        return 0;
      ready = framed(filter(std::move(message)));
      given = 0;
    }
    size_t count = std::min(most, ready.size() - given);
    std::memcpy(to, ready.data() + given, count);
    given += count;
    return count;
  }

private:
  struct Document {
    std::string text;
    bool isRefused = false; ///< the server has an empty one
  };

  std::string framed(const std::string &message) const {
    if (isDelimited)
      return message + "\n" + kMarker.str() + "\n";
    return formatv("Content-Length: {0}\r\n\r\n{1}", message.size(), message);
  }

  void send(json::Value message) const {
    outs() << framed(isDelimited ? formatv("{0:2}", message).str()
                                 : formatv("{0}", message).str());
    outs().flush();
  }

  /// Reads a line without its line feed; false at the end of the input.
  static bool readLine(std::string &line) {
    line.clear();
    for (char c; ::read(STDIN_FILENO, &c, 1) == 1; line += c)
      if (c == '\n')
        return true;
    return !line.empty();
  }

  bool receive(std::string &message) const {
    std::string line;
    if (isDelimited) {
      bool isThere = false;
      while (readLine(line) && StringRef(line).rtrim() != kMarker) {
        message += line + "\n";
        isThere = true;
      }
      return isThere;
    }
    size_t length = 0;
    while (readLine(line)) {
      StringRef header = StringRef(line).rtrim();
      if (header.consume_front("Content-Length:"))
        header.trim().getAsInteger(10, length);
      else if (header.empty() && length > 0)
        break;
    }
    message.resize(length);
    for (size_t at = 0; at < length;) {
      ssize_t count = ::read(STDIN_FILENO, message.data() + at, length - at);
      if (count <= 0)
        return false;
      at += count;
    }
    return length > 0;
  }

  /// Returns the message as the server may have it.
  std::string filter(std::string message) {
    auto parsed = json::parse(message);
    json::Object *fields = parsed ? parsed->getAsObject() : nullptr;
    if (!parsed)
      consumeError(parsed.takeError());
    auto method = fields ? fields->getString("method") : std::nullopt;
    json::Value *params = method ? fields->get("params") : nullptr;
    if (!params)
      return message;
    bool isChanged = false;
    if (*method == "textDocument/didOpen")
      isChanged = open(*params);
    else if (*method == "textDocument/didChange")
      isChanged = change(*params);
    else if (*method == "textDocument/didClose")
      close(*params);
    else if (*method == "mlir/convertFromBytecode")
      isChanged = refuseBytecode(*fields);
    return isChanged ? formatv("{0}", *parsed).str() : message;
  }

  bool open(json::Value &params) {
    lsp::DidOpenTextDocumentParams opened;
    json::Path::Root root;
    if (!fromJSON(params, opened, root))
      return false;
    const lsp::TextDocumentItem &item = opened.textDocument;
    Document &document = documents[item.uri.uri()];
    document = {item.text, false};
    if (!refuses(document, item.uri, item.version))
      return false;
    (*params.getAsObject()->getObject("textDocument"))["text"] = "";
    return true;
  }

  bool change(json::Value &params) {
    lsp::DidChangeTextDocumentParams changed;
    json::Path::Root root;
    if (!fromJSON(params, changed, root))
      return false;
    auto known = documents.find(changed.textDocument.uri.uri());
    if (known == documents.end())
      return false;
    Document &document = known->second;
    bool wasRefused = document.isRefused;
    // The server ignores a change that has no place in the text, too.
    if (failed(lsp::TextDocumentContentChangeEvent::applyTo(
            changed.contentChanges, document.text)))
      return false;
    bool isRefused = refuses(document, changed.textDocument.uri,
                             changed.textDocument.version);
    if (!isRefused && !wasRefused)
      return false;
    json::Object whole{{"text", isRefused ? "" : document.text}};
    (*params.getAsObject())["contentChanges"] = json::Array{std::move(whole)};
    return true;
  }

  void close(const json::Value &params) {
    if (const json::Object *item =
            params.getAsObject()->getObject("textDocument"))
      if (auto uri = item->getString("uri"))
        documents.erase(*uri);
  }

  /// Whether the server must not have the document. Then the editor is told
  /// why, after the server has told it that an empty one has no errors.
  bool refuses(Document &document, const lsp::URIForFile &uri,
               int64_t version) {
    auto fault = findTextFault(document.text, kMarker);
    document.isRefused = fault.has_value();
    if (!fault)
      return false;
    json::Object place{{"line", static_cast<int64_t>(fault->line - 1)},
                       {"character", static_cast<int64_t>(fault->column - 1)}};
    json::Object range{{"start", json::Object(place)},
                       {"end", std::move(place)}};
    json::Object diagnostic{{"range", std::move(range)},
                            {"severity", 1},
                            {"source", "mlir"},
                            {"message", fault->message}};
    json::Object params{{"uri", uri.uri()},
                        {"version", version},
                        {"diagnostics", json::Array{std::move(diagnostic)}}};
    answers.push_back(
        json::Object{{"jsonrpc", "2.0"},
                     {"method", "textDocument/publishDiagnostics"},
                     {"params", std::move(params)}});
    return true;
  }

  /// Upstream's reader could crash. The request becomes a notification that no
  /// server knows, and this filter answers it.
  bool refuseBytecode(json::Object &fields) {
    json::Value *id = fields.get("id");
    if (!id)
      return false;
    json::Object error{{"code", -32803}, // the request failed
                       {"message", "bytecode is not opened here; mp-opt "
                                   "--trust-bytecode makes text of it"}};
    answers.push_back(json::Object{
        {"jsonrpc", "2.0"}, {"id", *id}, {"error", std::move(error)}});
    fields.erase("id");
    fields["method"] = "$/refused";
    return true;
  }

  bool isDelimited;
  std::string ready; ///< a message for the server
  size_t given = 0;
  std::vector<json::Value> answers;
  StringMap<Document> documents; ///< by their URIs
};
} // namespace

void mp::tool::filterDocuments(ArrayRef<char *> words) {
  bool isDelimited = any_of(words, [](StringRef word) {
    word = word.ltrim('-');
    return word == "lit-test" || word == "input-style=delimited";
  });
  // It lives as long as standard input, and so to the end of the process.
  auto *filter = new DocumentFilter(isDelimited);
  cookie_io_functions_t functions = {};
  functions.read = [](void *filter, char *to, size_t most) {
    return static_cast<DocumentFilter *>(filter)->give(to, most);
  };
  if (FILE *filtered = fopencookie(filter, "r", functions))
    stdin = filtered;
}
