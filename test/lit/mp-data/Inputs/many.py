"""A tokenizer with one token more than uint16 holds."""

import json

vocabulary = {chr(0x4E00 + i) if i < 20000 else f"t{i}": i for i in range(65537)}
vocabulary["abc"] = vocabulary.pop("t65536")
print(json.dumps({"model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "t65535"}}))
