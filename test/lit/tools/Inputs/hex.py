"""Writes the bytes of each block of a .hex file to NAME.mlirbc: a line "NAME:", then lines of hexadecimal digits."""

import sys

name, digits = None, {}
for line in open(sys.argv[1]):
    line = line.split("#")[0].strip()
    if line.endswith(":"):
        name = line[:-1]
    elif line:
        digits[name] = digits.get(name, "") + line
for name, text in digits.items():
    with open(name + ".mlirbc", "wb") as file:
        file.write(bytes.fromhex(text))
