"""What an editor sends: a document that nests too deep, then the edit that removes the nesting, and a request for bytecode.

With --framed, each message has a header with its length, as from an editor, and not a mark of upstream's tests after it."""

import json
import sys

URI = "test:///net.mlir"
GOOD = "func.func @f() {\n  mp.rele\n}\n"
DEEP = "module {\n" * 5000 + "}\n" * 5000

MESSAGES = [
    {"id": 0, "method": "initialize", "params": {"processId": 1, "rootPath": "mlir", "capabilities": {}, "trace": "off"}},
    {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": URI, "languageId": "mlir", "version": 1, "text": GOOD + DEEP}}},
    # Line 3 on, which the server has only if the filter says the whole text.
    {"method": "textDocument/didChange", "params": {
        "textDocument": {"uri": URI, "version": 2},
        "contentChanges": [{"range": {"start": {"line": 3, "character": 0}, "end": {"line": 10003, "character": 0}}, "text": ""}]}},
    {"method": "textDocument/didChange", "params": {
        "textDocument": {"uri": URI, "version": 3},
        "contentChanges": [{"range": {"start": {"line": 1, "character": 9}, "end": {"line": 1, "character": 9}}, "text": DEEP}]}},
    {"id": 1, "method": "mlir/convertFromBytecode", "params": {"uri": "file:///net.mlirbc"}},
    {"id": 3, "method": "shutdown"},
    {"method": "exit"},
]

for message in MESSAGES:
    text = json.dumps({"jsonrpc": "2.0", **message})
    sys.stdout.write(f"Content-Length: {len(text)}\r\n\r\n{text}" if "--framed" in sys.argv else f"{text}\n// -----\n")
