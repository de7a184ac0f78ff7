"""`newer-bytecode.py FROM TO`: bytecode that says that it needs version 31 of the mp dialect."""

import sys

code = bytearray(open(sys.argv[1], "rb").read())
# A section of type 7 and of two bytes: the two numbers of the version, shifted by one.
at = code.index(b"\x07\x05")
assert code.count(b"\x07\x05") == 1
code[at + 2] = 31 << 1 | 1
open(sys.argv[2], "wb").write(code)
